/**
 * The connection that writes: what it is asked for, how it responds, and who owns it, this thread for a command and one of
 * its own for a service.
 */
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { systemCodeOf } from '#shared/errors.ts';
import { entryUrl } from '#shared/program.ts';
import { createQueue } from '#shared/resilience/turns.ts';
import type { Connection } from '../connection.ts';
import { guard, isBusy } from '../errors.ts';
import type { StoredRequest } from '../statements.ts';

/** A request to the connection that writes, which knows no table and no store. */
export type Request =
  | StoredRequest
  /** `hasRead`: elsewhere, what another process may have changed since the transaction before. */
  | { kind: 'begin'; hasRead: boolean }
  | { kind: 'commit' }
  | { kind: 'rollback' }
  | { kind: 'truncate-log' }
  | { kind: 'close' };

/** Asks the connection that writes. Requests are responded to in their order. */
export type Ask = (request: Request) => Promise<unknown>;

/** Owner of the connection that writes. */
export type Writer = {
  ask: Ask;
  /** Resolves when all that was asked for is responded to and the connection is closed. Idempotent. */
  close(): Promise<void>;
};

/**
 * Does on its connection what a server does, one transaction at a time, statement by statement, and refuses what comes
 * behind a failed one until that is rolled back. The function throws SQLite's own errors.
 */
export function createBackend(connection: Connection): (request: Request) => unknown {
  let isOpen = false;
  let version = connection.version();
  const begin = (hasRead: boolean): void => {
    connection.handle.exec('BEGIN IMMEDIATE');
    const before = version;
    version = connection.version();
    if (hasRead && before !== version) throw new ChangedElsewhere();
    isOpen = true;
  };
  const rollBack = (): void => {
    isOpen = false;
    if (connection.handle.inTransaction) connection.handle.exec('ROLLBACK');
  };
  const runInTransaction = (request: StoredRequest | { kind: 'commit' }): unknown => {
    if (!isOpen) throw new Error(NOT_OPEN);
    isOpen = false; // for what comes behind a failed one, and the commit
    if (request.kind === 'commit') return connection.commit();
    const response = connection.run(request);
    isOpen = true;
    return response;
  };
  return (request) => {
    if (request.kind === 'begin') return begin(request.hasRead);
    if (request.kind === 'rollback') return rollBack();
    if (request.kind === 'truncate-log') return connection.truncateLog();
    if (request.kind === 'close') return connection.close();
    return runInTransaction(request);
  };
}

export const CHANGED_ELSEWHERE = 'CHANGED_ELSEWHERE';

/** Another process has committed something since the transaction before: what was read may be old. */
export class ChangedElsewhere extends Error {
  readonly code = CHANGED_ELSEWHERE;
}

const NOT_OPEN = 'a statement failed before, or the transaction is over: nothing is committed';

/** Waits for another process's lock in this thread: 1 ms, 2 ms, and then this long each. */
const LOCK_POLL_MS = 5;

/** Writes in this thread, which suits commands. */
export function createLocalWriter(connection: Connection, lockWaitMs: number): Writer {
  connection.waitAtMost(0); // the caller waits, and not in a statement
  const respond = guard(() => createBackend(connection));
  const inOrder = createQueue();
  return {
    ask: (request) => {
      const lockWait = request.kind === 'begin' ? lockWaitMs : 0;
      return inOrder(() => whileBusy(lockWait, () => respond(request)));
    },
    close: async () => guard(() => connection.close()),
  };
}

/** Tries again and again while another process writes, without holding up the event loop. */
async function whileBusy<T>(lockWaitMs: number, work: () => T): Promise<T> {
  for (let waits = 1; ; waits += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || waits * LOCK_POLL_MS > lockWaitMs) throw error;
      await setTimeout(Math.min(waits, LOCK_POLL_MS));
    }
  }
}

/** To the first request that has none yet. */
export type Response = { value: unknown } | { error: ErrorData };

/** An error as data. */
type ErrorData = { name: string; message: string; stack: string; code?: string };

export type WritingThreadOptions = {
  /** The SQLite file. */
  path: string;
  /**
   * The thread has ended by itself, or could not open the store. What was asked for may be written or not, and nobody
   * will ever say: the process must end.
   */
  onCrash: (error: Error) => void;
};

/** Nothing lives longer than its commit: a large young generation would only be filled. */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 4 };

/** Starts the thread that owns the connection that writes, so that the event loop waits for no disk and no lock. */
export function startWritingThread({ path, onCrash }: WritingThreadOptions): Writer {
  const worker = new Worker(entryUrl('adapters/sqlite/writing/thread-main'), {
    workerData: { path },
    resourceLimits: HEAP_LIMITS,
    execArgv: ['--enable-source-maps'],
  });
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const send = createSending(worker);
  const ask: Ask = (request) => {
    const response = Promise.withResolvers<unknown>();
    waiting.push(response);
    send(request);
    return response.promise;
  };
  worker.on('message', (responses: readonly Response[]) => {
    for (const response of responses)
      if ('error' in response) waiting.shift()?.reject(toError(response.error));
      else waiting.shift()?.resolve(response.value);
  });
  const exited = watchExit(worker, onCrash);
  const end = (): Promise<void> => {
    send({ kind: 'close' });
    return exited;
  };
  let ended: Promise<void> | undefined;
  return { ask, close: () => (ended ??= end()) };
}

/** Sends requests that come in one go, before anything is awaited, in one message. */
function createSending(worker: Worker): (request: Request) => void {
  let requests: Request[] = [];
  return (request) => {
    requests.push(request);
    if (requests.length > 1) return;
    process.nextTick(() => {
      const all = requests;
      requests = [];
      worker.postMessage(all);
    });
  };
}

/** Resolves with the thread's end: with code 0 when it has closed the store. */
function watchExit(worker: Worker, onCrash: (error: Error) => void): Promise<void> {
  let failure: Error | undefined;
  worker.on('error', (error: Error) => {
    failure = error;
  });
  return new Promise((resolve) => {
    worker.once('exit', (code) => {
      resolve();
      if (code !== 0)
        onCrash(failure ?? new Error(`the writing thread has ended with code ${code}`));
    });
  });
}

export function toErrorData(error: unknown): ErrorData {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(typeof error);
  const code = systemCodeOf(error);
  return { name, message, stack, ...(code !== undefined && { code }) };
}

function toError({ message, ...rest }: ErrorData): Error {
  return Object.assign(new Error(message), rest);
}
