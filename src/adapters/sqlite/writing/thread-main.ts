/** Main module of the thread that owns the connection that writes. */
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { SECOND } from '#shared/clock.ts';
import { type Connection, openConnection } from '../connection/connection.ts';
import { isDiskFailure } from '../connection/errors.ts';
import { type Response, type ThreadOptions, toErrorData } from './thread.ts';
import { createBackend, type Request } from './backend.ts';

/** Bytes of the write-ahead log from which on it is moved into the database, behind the responses: few stops under load. */
const LOG_BYTES = 16 * 1024 * 1024;
/** Wait of a transaction for another process's lock, and of its caller with it. */
const LOCK_WAIT_MS = SECOND;

function openForRequests({ path }: ThreadOptions): Connection {
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
 * Empties the log once it is large: its file never shrinks by itself. Where a reader of another process needs it,
 * it is asked again when as much has come as before.
 */
function createCheckpoint(connection: Connection, log: string): () => void {
  let bytesMax = LOG_BYTES;
  return () => {
    const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes <= bytesMax || connection.handle.inTransaction) return;
    bytesMax = bytes + LOG_BYTES;
    try {
      if (connection.truncateLog()) bytesMax = LOG_BYTES;
    } catch (error) {
      if (isDiskFailure(error)) throw error; // else it is tried again
    }
  };
}

export const connection = openForRequests(workerData as ThreadOptions);
