import { realpathSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';
import { createPrivately } from '../connection.ts';
import { guard, isBusy } from '../errors.ts';

/**
 * The right to work on the SQLite file of this path, as a lock on an empty file beside it. The
 * operating system ends such a lock with the process that has it, also when that is killed, so that
 * none is ever left behind; and a process that is merely stopped for a while keeps it.
 */
export function createWorkerLock(path: string): WorkerLock {
  let held: BetterSqlite3.Database | undefined;
  return {
    take: async () => {
      held ??= guard(() => lock(`${realpathSync(path)}-worker`)); // one lock for all names of a file
      return held !== undefined;
    },
    release: async () => {
      held?.close();
      held = undefined;
    },
  };
}

/** A connection that holds its file exclusively; undefined when another one does. */
function lock(file: string): BetterSqlite3.Database | undefined {
  createPrivately(file);
  const handle = new BetterSqlite3(file, { timeout: 0 });
  try {
    handle.exec('BEGIN EXCLUSIVE'); // nothing is written: only the lock is wanted
    return handle;
  } catch (error) {
    handle.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}
