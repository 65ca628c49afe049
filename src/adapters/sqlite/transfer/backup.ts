import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import BetterSqlite3 from 'better-sqlite3';
import { SECOND } from '#shared/clock.ts';
import { systemCodeOf, TrackportError } from '#shared/errors.ts';
import type { OnProgress } from '#shared/progress.ts';
import { unavailable } from '#shared/database.ts';
import { readMigrationState, shippedMigrations } from '../../migrations.ts';
import { guard } from '../errors.ts';
import { createRunner, statementsOn } from '../statements.ts';
import { type BackupOrigin, countRows, type TableDigest, writeManifest } from './manifest.ts';

export type BackupRequest = BackupOrigin & {
  /** The store's file. */
  storePath: string;
  /** The backup to be; its folder is there. */
  file: string;
  /** It may replace a file. */
  isForced: boolean;
  onProgress: OnProgress;
};

/** 4 MiB a step: the progress moves, and the process can be told to stop in between. */
const PAGES_A_STEP = 1000;
const BUSY_TIMEOUT_MS = 5 * SECOND;

/**
 * Copies a store while others work on it, as it was when the copy began, and checks the copy. Nobody
 * waits for it. Returns what it holds.
 * @throws {store-unavailable} @throws {bad-request} the file is there, or cannot be one
 */
export async function backUp(request: BackupRequest): Promise<readonly TableDigest[]> {
  refuseTarget(request);
  const { file } = request;
  const draft = fileErrors(file, () => openDraft(file));
  try {
    const counts = await copyPages(request, draft.file);
    const digests = copyErrors(file, () => finish(draft.file, request));
    for (const { table, rows } of digests)
      if (counts.has(table) && counts.get(table) !== rows) refuseCopy(table);
    fileErrors(file, () => draft.publish({ replace: request.isForced }));
    return digests.filter(({ table }) => counts.has(table));
  } finally {
    draft.discard();
  }
}

/** Files of a store: those of SQLite, the key, and those that say who works on it. */
const OWN_ENDINGS = [
  '',
  '-wal',
  '-shm',
  '-journal',
  '.key',
  '.lock',
  '.lock-journal',
  '.lock.json',
];

function refuseTarget({ file, storePath, isForced }: BackupRequest): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  // A file with other names, or a way to something else, is nobody's former backup.
  if (found && !found.isFile())
    refuseFile(file, 'is no regular file, and is not replaced. Name another');
  if (found && !isForced) refuseFile(file, IS_THERE);
  const own = guard(() => realpathSync(storePath));
  const folder = fileErrors(file, () => realpathSync(path.dirname(file)));
  const target = path.join(folder, path.basename(file));
  if (OWN_ENDINGS.some((ending) => target === own + ending))
    refuseFile(file, 'would be one of the files of the store itself. Name another');
  if (existsSync(`${file}-wal`) || existsSync(`${file}-journal`))
    refuseFile(
      file,
      'is open in another program, or was not closed: a -wal or -journal lies beside it',
    );
}

/**
 * One read transaction over all steps: without it a store that is written all the time would have the
 * copy start anew with every commit. Writers go on beside it; only their log cannot be cut meanwhile.
 */
async function copyPages(
  { storePath, file, onProgress }: BackupRequest,
  target: string,
): Promise<Map<string, number>> {
  const handle = guard(
    () => new BetterSqlite3(storePath, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS }),
  );
  try {
    await beginReading(handle);
    await handle.backup(target, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages - remainingPages, totalPages, 'pages');
        return PAGES_A_STEP;
      },
    });
    return guard(() => countRows(handle));
  } catch (error) {
    return copyErrors(file, () => {
      throw error;
    });
  } finally {
    handle.close();
  }
}

/** The store is only read: what cannot be written is `file`. */
function copyErrors<T>(file: string, work: () => T): T {
  return guard(() => {
    try {
      return work();
    } catch (error) {
      const code = systemCodeOf(error) ?? '';
      if (/^SQLITE_(?:FULL|READONLY)/.test(code)) refuseFile(file, `cannot be written (${code})`);
      if (code.startsWith('SQLITE_IOERR'))
        refuseFile(file, `cannot be written, or the store cannot be read (${code})`);
      throw error;
    }
  });
}

/** The first look takes the snapshot. */
async function beginReading(handle: BetterSqlite3.Database): Promise<void> {
  guard(() => handle.exec('PRAGMA query_only = ON; BEGIN'));
  const { applied } = await readMigrationState(
    statementsOn(createRunner(handle)),
    shippedMigrations('sqlite'),
  );
  if (applied.length === 0) throw unavailable('The store has nothing of Trackport in it.');
}

/** Checks the copy, and makes it one file that says what is in it. */
function finish(file: string, { at, version, onProgress }: BackupRequest): TableDigest[] {
  const handle = new BetterSqlite3(file, { fileMustExist: true });
  try {
    handle.pragma('journal_mode = DELETE');
    handle.pragma('synchronous = FULL');
    if (handle.pragma('integrity_check', { simple: true }) !== 'ok') refuseCopy('integrity_check');
    return handle.transaction(() => writeManifest(handle, { at, version }, onProgress))();
  } finally {
    handle.close();
  }
}

function refuseCopy(what: string): never {
  throw unavailable(
    `The copy is not as the store is (${what}), and was dropped: the store may be damaged.`,
  );
}

const IS_THERE = 'is there already. Name another, or use --force';

function refuseFile(file: string, why: string): never {
  throw new TrackportError('bad-request', { detail: `${file} ${why}.` });
}

function fileErrors<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    return refuseFile(file, code === 'EEXIST' ? IS_THERE : `cannot be written (${code})`);
  }
}

/** A file that is not whole yet, beside the one that it will be. */
type Draft = {
  /** `TARGET.….part`, empty, readable by its owner only. */
  readonly file: string;
  /**
   * Gives it the target's name, once all of it is on the disk: whoever looks finds the whole file
   * or what was there before. @throws EEXIST when it may not replace a file that is there
   */
  publish(options: { replace: boolean }): void;
  /** Removes what was not published. */
  discard(): void;
};

/** @throws the file system's own errors */
export function openDraft(target: string): Draft {
  const file = `${target}.${randomUUID()}.part`;
  closeSync(openSync(file, 'wx', 0o600));
  const discard = (): void => {
    rmSync(file, { force: true });
    removeSidecars(file);
  };
  return {
    file,
    publish: ({ replace }) => {
      sync(file);
      if (replace) renameSync(file, target);
      else linkSync(file, target);
      discard();
      sync(path.dirname(target));
    },
    discard,
  };
}

/** Removes what SQLite keeps beside a file. */
export function removeSidecars(file: string): void {
  for (const ending of ['-journal', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
}

function sync(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
