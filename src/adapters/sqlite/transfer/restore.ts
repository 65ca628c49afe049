import { constants, copyFileSync, existsSync, statSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { isTrackportError, systemCodeOf, TrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import type { OnProgress } from '#shared/progress.ts';
import { StoreRefusal } from '#shared/database.ts';
import { applyMigrations, type Migration, shippedMigrations } from '../../migrations.ts';
import { openDatabase } from '../database.ts';
import { guard } from '../errors.ts';
import { refuseUnlessEmpty } from '../../copy-tables.ts';
import { openDraft, removeSidecars } from './backup.ts';
import { openAlone } from './exclusive.ts';
import { type BackupOrigin, dropManifest, findAltered, readManifest } from './manifest.ts';

export type RestoreRequest = {
  /** The backup. */
  file: string;
  /** The store's file; made when it is missing. */
  storePath: string;
  log: Log;
  onProgress: OnProgress;
};

/** A restored store: its origin, its size, and how it was brought up to date. */
export type Restored = BackupOrigin & {
  rows: number;
  /** Those that the backup's schema lacked. */
  migrated: readonly Migration[];
};

/**
 * Puts a backup in the place of an empty store that nobody has open: the whole of it, or nothing.
 * The lead directory of the restored store is crawled anew.
 * @throws {store-unavailable} in use, not empty, or of a newer version @throws {bad-request} no whole backup
 */
export async function restore(request: RestoreRequest): Promise<Restored> {
  const { file, storePath } = request;
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) refuseBackup(file, 'there is no such file');
  // Others may never end, or do something when they are opened.
  if (!found.isFile()) refuseBackup(file, 'it is no regular file');
  if (existsSync(`${file}-wal`))
    refuseBackup(file, 'it is open in another program: a -wal lies beside it');
  return replaceEmpty(storePath, async (draft) => {
    guard(() => copyFileSync(file, draft, constants.COPYFILE_FICLONE));
    const origin = takeBackup(draft, request);
    return { ...origin, migrated: await makeStore(draft, request, origin) };
  });
}

/**
 * Has `make` fill a file, empty at first, that takes the place of an empty store: the whole of it, or nothing. The
 * store is made when it is missing.
 * @throws {store-unavailable} another process has it open, or it is not empty
 */
async function replaceEmpty<T>(path: string, make: (draft: string) => Promise<T>): Promise<T> {
  const store = openAlone(path);
  try {
    await refuseUnlessEmpty(store, 'Name another one, or move its files away.');
    const draft = guard(() => openDraft(store.file));
    try {
      const result = await make(draft.file);
      guard(() => {
        removeSidecars(store.file); // they would be taken for the new one's
        draft.publish({ replace: true });
      });
      return result;
    } finally {
      draft.discard();
    }
  } finally {
    store.close();
  }
}

/** Checks the copy that a store is to become, and takes out of it what only a backup has. */
function takeBackup(
  draft: string,
  { file, onProgress }: RestoreRequest,
): BackupOrigin & { rows: number } {
  const handle = new BetterSqlite3(draft, { fileMustExist: true });
  try {
    const manifest = readManifest(handle);
    if (!manifest) return refuseBackup(file, 'it was not made by `trackport backup`');
    const altered = findAltered(handle, manifest, onProgress);
    if (altered.length > 0 || handle.pragma('integrity_check', { simple: true }) !== 'ok')
      return refuseBackup(
        file,
        `it is not as it was made (${altered.join(', ') || 'its structure'})`,
      );
    const { at, version } = manifest;
    return { at, version, rows: dropManifest(handle) };
  } catch (error) {
    if (isTrackportError(error)) throw error;
    return refuseBackup(
      file,
      `it is damaged, or no backup (${systemCodeOf(error) ?? 'unreadable'})`,
    );
  } finally {
    handle.close();
  }
}

/**
 * Brings it to today's schema. What the directory knows is as old as the backup: another check than
 * today's has the next start crawl it anew, and until then nothing ends as unmatched.
 */
async function makeStore(
  draft: string,
  { file, log }: RestoreRequest,
  { version }: BackupOrigin,
): Promise<Migration[]> {
  const database = openDatabase({ path: draft });
  try {
    const migrated = await applyMigrations({ database, log }, shippedMigrations('sqlite'));
    await database.exec('UPDATE directory_state SET rules_check = zeroblob(0)');
    return migrated;
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    return refuseBackup(file, `it is of Trackport ${version}, whose stores begin otherwise`);
  } finally {
    await database.close();
  }
}

function refuseBackup(file: string, why: string): never {
  throw new TrackportError('bad-request', { detail: `${file} cannot be restored: ${why}.` });
}
