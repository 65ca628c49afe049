import { Worker } from 'node:worker_threads';
import { systemCodeOf } from '#shared/errors.ts';
import { entryUrl } from '#shared/program.ts';
import type { Ask, Request, Writer } from './backend.ts';

export type ThreadOptions = {
  /** The SQLite file. */
  path: string;
};

/** To the first request that has none yet. */
export type Response = { value: unknown } | { error: ErrorData };

/** An error as data. */
export type ErrorData = { name: string; message: string; stack: string; code?: string };

export type WritingThreadOptions = ThreadOptions & {
  /**
   * The thread has ended by itself, or could not open the store. What was asked for may be written or not, and nobody
   * will ever say: the process must end.
   */
  onCrash: (error: Error) => void;
};

/** Nothing lives longer than its commit: a large young generation would only be filled. */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 4 };

/** Starts the thread that owns the connection that writes, so that the event loop waits for no disk and no lock. */
export function startWritingThread({ onCrash, ...workerData }: WritingThreadOptions): Writer {
  const worker = new Worker(entryUrl('adapters/sqlite/writing/thread-main'), {
    workerData: workerData satisfies ThreadOptions,
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
