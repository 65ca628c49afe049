import { Worker } from 'node:worker_threads';
import { systemCodeOf } from '#shared/errors.ts';
import { entryUrl } from '#shared/program.ts';
import { translate } from '../connection/errors.ts';
import type { Ask, Request } from './backend.ts';

export type ThreadOptions = {
  /** The SQLite file. */
  path: string;
  /** Wait of a transaction for another process's lock, in ms. */
  lockWaitMs: number;
};

/** To the first request that has none yet. The first of all says that the store is open, or why it is not. */
export type Response = { value: unknown } | { error: ErrorData };

/** An error as data. */
export type ErrorData = { name: string; message: string; stack: string; code?: string };

export type WritingThread = {
  ask: Ask;
  /** Resolves when the thread has opened the store. @throws {store-unavailable} */
  opened: Promise<void>;
  /** Resolves when all that was asked for is answered and the thread has ended. Idempotent. */
  close(): Promise<void>;
};

export type WritingThreadOptions = ThreadOptions & {
  /**
   * The thread has ended by itself. What was asked for may be written or not, and nobody will ever
   * say: the process must end.
   */
  onCrash: (error: Error) => void;
  /** Main module; default `thread-main.ts`. Tests give one that they can disturb. */
  module?: URL;
};

export type StartWritingThread = (options: WritingThreadOptions) => WritingThread;

/** Nothing lives longer than its commit: a large young generation would only be filled. */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 4 };

/** Starts the thread that owns the connection that writes, so that the event loop waits for no disk and no lock. */
export function startWritingThread({
  onCrash,
  module = entryUrl('adapters/sqlite/writing/thread-main'),
  ...workerData
}: WritingThreadOptions): WritingThread {
  const worker = new Worker(module, {
    workerData: workerData satisfies ThreadOptions,
    resourceLimits: HEAP_LIMITS,
    execArgv: ['--enable-source-maps'],
  });
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const wait = (): Promise<unknown> => {
    const response = Promise.withResolvers<unknown>();
    waiting.push(response);
    return response.promise;
  };
  const send = createSending(worker);
  const ask: Ask = (request) => {
    send(request);
    return wait();
  };
  const opened = wait().then(
    () => undefined,
    (error: unknown) => {
      throw translate(error);
    },
  );
  opened.catch(() => undefined); // whoever needs it open awaits it
  worker.on('message', (responses: readonly Response[]) => {
    for (const response of responses)
      if ('error' in response) waiting.shift()?.reject(toError(response.error));
      else waiting.shift()?.resolve(response.value);
  });
  const exited = watchExit(worker, onCrash);
  const end = async (): Promise<void> => {
    send({ kind: 'close' });
    await exited;
  };
  let closed: Promise<void> | undefined;
  return { ask, opened, close: () => (closed ??= opened.then(end, () => exited)) };
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

/** Resolves with the thread's end. It ends by itself, with code 0, when it has closed the store or could not open it. */
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
