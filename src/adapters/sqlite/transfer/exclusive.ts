import { existsSync, realpathSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { type Tx, unavailable } from '#shared/database.ts';
import { refuseOtherSchema, shippedMigrations } from '../../migrations.ts';
import { createPrivately } from '../connection.ts';
import { refuseOtherFile } from '../database.ts';
import { guard, isBusy } from '../errors.ts';
import { createRunner, statementsOn } from '../statements.ts';
import { lockForCommand } from '../service-lock.ts';

/** A store that nobody else has open, nor can open. */
type ExclusiveStore = Tx & {
  readonly handle: BetterSqlite3.Database;
  /** The file itself, behind any symbolic link. */
  readonly file: string;
  close(): void;
};

/** With the lock of a service, which names who has it; another command has the file open without one. */
export function openAlone(path: string): ExclusiveStore {
  const lock = lockForCommand(path);
  try {
    const store = openExclusively(path);
    const close = (): void => {
      store.close();
      lock.release();
    };
    return { ...store, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Takes a stopped store for ourselves, with its log moved into it; a store that is not there is made,
 * empty. Every connection has a shared lock on the file for as long as it lives: an
 * exclusive one is had only when there is no other.
 * @throws {store-unavailable} also when another process has it open
 */
function openExclusively(path: string): ExclusiveStore {
  return guard(() => {
    createPrivately(path);
    const file = realpathSync(path);
    const handle = new BetterSqlite3(file, { timeout: 0 });
    try {
      handle.pragma('locking_mode = EXCLUSIVE'); // before the first look, so that it is in force for it
      handle.pragma('journal_mode = DELETE');
      handle.pragma('secure_delete = ON');
      handle.exec('BEGIN EXCLUSIVE');
      const tx = statementsOn(createRunner(handle)) as Tx;
      return { ...tx, handle, file, close: () => handle.close() };
    } catch (error) {
      handle.close();
      throw isBusy(error) ? unavailable(IN_USE) : error;
    }
  });
}

const IN_USE = 'Another process has the store open. Wait until it is done, or end it.';

/**
 * Lets `work` have a stopped store for itself: the whole of what it writes is there afterwards, or nothing.
 * @throws {store-unavailable} also when it is in use, is not there, or has another schema than today's
 */
export async function withStopped<T>(path: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (!existsSync(path)) throw unavailable('There is no such file.');
  await refuseOtherFile(path);
  const store = openAlone(path);
  try {
    await refuseOtherSchema(store, shippedMigrations('sqlite'));
    const result = await work(store);
    await store.exec('COMMIT');
    return result;
  } finally {
    store.close();
  }
}
