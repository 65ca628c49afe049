/** Main module of the thread that owns the connection that writes. */
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { SECOND } from '#shared/clock.ts';
import { type Connection, openConnection } from '../connection.ts';
import { isDiskFailure } from '../errors.ts';
import { createBackend, type Request, type Response, toErrorData } from './writer.ts';

/** The write-ahead log is moved into the database after so many commits or bytes more, behind the responses. */
const LOG_COMMITS = 200;
const LOG_BYTES = 16 * 1024 * 1024;
/** Wait of a transaction for another process's lock, and of its caller with it. */
const LOCK_WAIT_MS = SECOND;

function openForRequests({ path }: { path: string }): Connection {
  const connection = openConnection(path);
  connection.waitAtMost(LOCK_WAIT_MS);
  connection.handle.pragma('wal_autocheckpoint = 0'); // SQLite tells nobody when one fails
  const respond = createBackend(connection);
  const checkpoint = createCheckpoint(connection, `${path}-wal`);
  parentPort?.on('message', (requests: readonly Request[]) => {
    parentPort?.postMessage(requests.map((request) => respondTo(respond, request)));
    if (!connection.handle.open) parentPort?.unref();
    else if (requests.some(({ kind }) => kind === 'commit')) checkpoint();
  });
  return connection;
}

function respondTo(respond: (request: Request) => unknown, request: Request): Response {
  try {
    return { value: respond(request) };
  } catch (error) {
    if (isDiskFailure(error)) throw error; // which ends the thread, and the process with it
    return { error: toErrorData(error) };
  }
}

/**
 * Has the log begin anew in the file that it has, where the disk has the room already: an fsync then costs less. Once it
 * is four times as long it is cut off, for it never shrinks by itself. Where a reader of another process needs it, that
 * is tried again after as much as before.
 */
function createCheckpoint(connection: Connection, log: string): () => void {
  let commits = 0;
  let bytesMax = LOG_BYTES;
  return () => {
    commits += 1;
    try {
      const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
      if ((commits < LOG_COMMITS && bytes <= bytesMax) || connection.handle.inTransaction) return;
      commits = 0;
      bytesMax = bytes + LOG_BYTES;
      if (bytes <= 4 * LOG_BYTES) connection.handle.pragma('wal_checkpoint(PASSIVE)');
      else if (connection.truncateLog()) bytesMax = LOG_BYTES;
    } catch (error) {
      if (isDiskFailure(error)) throw error; // else, as where the folder cannot be entered, it is tried again
    }
  };
}

export const connection = openForRequests(workerData as { path: string });
