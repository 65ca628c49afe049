import { existsSync, realpathSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { refuseOtherSchema, shippedMigrations } from '../../store/migrations.ts';
import type { Session } from '../../store/session.ts';
import { unavailable } from '../../store/unavailable.ts';
import { createPrivately } from '../connection/store-file.ts';
import { guard, isBusy } from '../connection/errors.ts';
import { createSession } from '../connection/session.ts';

/** A store that nobody else has open, nor can open. */
export type ExclusiveStore = Session & {
  readonly handle: BetterSqlite3.Database;
  /** The file itself, behind any symbolic link. */
  readonly file: string;
  close(): void;
};

/**
 * Takes a stopped store for ourselves, with its log moved into it; a store that is not there is made,
 * empty. Every connection has a shared lock on the file for as long as it lives, that of a process
 * which stands by, too: an exclusive one is had only when there is no other.
 * @throws {store-unavailable} also when another process has it open
 */
export function openExclusively(path: string): ExclusiveStore {
  return guard(() => {
    createPrivately(path);
    const file = realpathSync(path);
    const handle = new BetterSqlite3(file, { timeout: 0 });
    try {
      handle.pragma('locking_mode = EXCLUSIVE'); // before the first look, so that it is in force for it
      handle.pragma('journal_mode = DELETE');
      handle.pragma('secure_delete = ON');
      handle.exec('BEGIN EXCLUSIVE');
      return { ...createSession(handle), handle, file, close: () => handle.close() };
    } catch (error) {
      handle.close();
      throw isBusy(error) ? unavailable(IN_USE) : error;
    }
  });
}

const IN_USE =
  'Another process has the store open. Stop every service and command that works on it first.';

/**
 * Lets `work` have a stopped store for itself: the whole of what it writes is there afterwards, or nothing.
 * @throws {store-unavailable} also when it is in use, is not there, or has another schema than today's
 */
export async function withStopped<T>(
  path: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (!existsSync(path)) throw unavailable('There is no such file.');
  const store = openExclusively(path);
  try {
    await refuseOtherSchema(store, shippedMigrations('sqlite'));
    const result = await work(store);
    await store.exec('COMMIT');
    return result;
  } finally {
    store.close();
  }
}
