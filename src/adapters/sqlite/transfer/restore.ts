import { constants, copyFileSync, existsSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { isTrackportError, systemCodeOf, TrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import type { OnProgress } from '#shared/report.ts';
import type { Migration } from '../../store/migrations.ts';
import { StoreRefusal } from '../../store/session.ts';
import { openDatabase } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';
import { migrate } from '../migrate.ts';
import { replaceEmpty } from './exclusive.ts';
import { type BackupOrigin, dropManifest, findAltered, readManifest } from './tables.ts';

export type RestoreRequest = {
  /** The backup. */
  file: string;
  /** The store's file; made when it is missing. */
  storePath: string;
  log: Log;
  onProgress: OnProgress;
};

/** What a restored store came from. */
export type Restored = BackupOrigin & {
  rows: number;
  /** What the backup's schema lacked. */
  migrated: readonly Migration[];
};

/**
 * Puts a backup in the place of an empty store that nobody has open: the whole of it, or nothing.
 * The lead directory of the restored store is crawled anew.
 * @throws {store-unavailable} in use, not empty, or of a newer version @throws {bad-request} no whole backup
 */
export async function restore(request: RestoreRequest): Promise<Restored> {
  const { file, storePath, log, onProgress } = request;
  if (!existsSync(file)) refuseBackup('there is no such file');
  if (existsSync(`${file}-wal`))
    refuseBackup('it is open in another program: a -wal lies beside it');
  return replaceEmpty(storePath, async (draft) => {
    guard(() => copyFileSync(file, draft, constants.COPYFILE_FICLONE));
    const origin = takeBackup(draft, onProgress);
    return { ...origin, migrated: await makeStore(draft, log, origin) };
  });
}

/** Checks the copy that a store is to become, and takes out of it what only a backup has. */
function takeBackup(file: string, onProgress: OnProgress): BackupOrigin & { rows: number } {
  const handle = new BetterSqlite3(file, { fileMustExist: true });
  try {
    const manifest = readManifest(handle);
    if (!manifest) return refuseBackup('it was not made by `trackport backup`');
    const altered = findAltered(handle, manifest, onProgress);
    if (altered.length > 0 || handle.pragma('integrity_check', { simple: true }) !== 'ok')
      return refuseBackup(`it is not as it was made (${altered.join(', ') || 'its structure'})`);
    const { at, version } = manifest;
    return { at, version, rows: dropManifest(handle) };
  } catch (error) {
    if (isTrackportError(error)) throw error;
    return refuseBackup(`it is damaged, or no backup (${systemCodeOf(error) ?? 'unreadable'})`);
  } finally {
    handle.close();
  }
}

/**
 * Brings it to today's schema. What the directory knows is as old as the backup: another check than
 * today's has the next start crawl it anew, and until then nothing ends as unmatched.
 */
async function makeStore(file: string, log: Log, { version }: BackupOrigin): Promise<Migration[]> {
  const database = openDatabase({ path: file });
  try {
    const migrated = await migrate({ database, log });
    await database.exec('UPDATE directory_state SET rules_check = zeroblob(0)');
    return migrated;
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    return refuseBackup(`it is of Trackport ${version}, whose stores begin otherwise`);
  } finally {
    database.close();
  }
}

function refuseBackup(why: string): never {
  throw new TrackportError('bad-request', { detail: `FILE cannot be restored: ${why}.` });
}
