import { Worker } from 'node:worker_threads';
import { entryUrl } from '#shared/program.ts';
import {
  decode,
  encode,
  type Message,
  OPENED,
  type ThreadOptions,
  toError,
  type WriterRequest,
  type WriterResult,
} from './messages.ts';
import type { Writer } from '../connection/connection.ts';

export type ThreadWriterOptions = ThreadOptions & {
  /**
   * The thread has ended by itself. What was asked for may be written or not, and nobody will ever
   * say: the process must end.
   */
  onCrash: (error: Error) => void;
  /** What the thread runs; default `thread-main.ts`. Tests give one that they can disturb. */
  module?: URL;
};

export type ThreadWriter = Writer & {
  /** Resolves when the thread has opened the store. @throws {store-unavailable} */
  opened(): Promise<void>;
};

/** What it handles is gone with the commit: a large young generation would only be filled. */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 4 };

type Pending = { resolve: (value: unknown) => void; reject: (error: Error) => void };

/**
 * Writes in a thread of its own, so that the event loop waits for no disk and for no other process.
 * While one commit is written to the disk, the next one gathers.
 */
export function createThreadWriter({
  onCrash,
  module = entryUrl('adapters/sqlite/writer/thread-main'),
  ...workerData
}: ThreadWriterOptions): ThreadWriter {
  const worker = new Worker(module, {
    workerData: workerData satisfies ThreadOptions,
    resourceLimits: HEAP_LIMITS,
    execArgv: ['--enable-source-maps'],
  });
  const pending = createPending();
  const send = createSending(worker);
  let closeId: number | undefined;
  /** It has said the last that it will say: its end is no crash. */
  let mayEnd = false;
  /** Resolves with what is answered under its `id`. */
  const request = <T>(make: (id: number) => WriterRequest): Promise<T> => {
    const { id, settled } = pending.add<T>();
    send(make(id));
    return settled;
  };
  const { settled: opened } = pending.add<void>();
  opened.catch(() => undefined); // whoever needs it open awaits it
  const exited = watchExit(worker, (error) => {
    if (!mayEnd) onCrash(error);
  });
  worker.on('message', (message: Message<WriterResult>) => {
    for (const result of decode(message)) {
      mayEnd ||= result.id === (result.kind === 'done' ? closeId : OPENED);
      pending.settle(result);
    }
  });
  const end = async (): Promise<void> => {
    const close = (id: number): WriterRequest => ({ kind: 'close', id: (closeId = id) });
    if (!mayEnd) await Promise.race([request(close), exited]);
    await exited;
  };
  let closed: Promise<void> | undefined;
  const call: Writer['call'] = ({ store, name }, _write, input) =>
    request((id) => ({ kind: 'call', id, store, name, input }));
  return {
    opened: () => opened,
    call,
    callExclusive: call,
    truncateLog: () => request((id) => ({ kind: 'truncate-log', id })),
    close: () => (closed ??= end()),
  };
}

/** Everything that a turn of the event loop asks for goes in one message. */
function createSending(worker: Worker): (request: WriterRequest) => void {
  let requests: WriterRequest[] = [];
  return (request) => {
    requests.push(request);
    if (requests.length > 1) return;
    setImmediate(() => {
      const all = requests;
      requests = [];
      worker.postMessage(encode(all));
    });
  };
}

/**
 * Requests that wait for their result; the first one's id is `OPENED`. Other ids are used again: the tables
 * of a `Map` with ever new keys outlive all small garbage collections.
 */
function createPending() {
  const waiting: (Pending | undefined)[] = [];
  const free: number[] = [];
  return {
    add: <T>(): { id: number; settled: Promise<T> } => {
      const id = free.pop() ?? waiting.length;
      const settled = new Promise<T>((resolve, reject) => {
        waiting[id] = { resolve: resolve as (value: unknown) => void, reject };
      });
      return { id, settled };
    },
    settle: (result: WriterResult): void => {
      const { id } = result;
      const request = waiting[id];
      waiting[id] = undefined;
      if (id !== OPENED) free.push(id);
      if (result.kind === 'done') request?.resolve(result.value);
      else request?.reject(toError(result.error));
    },
  };
}

/** Resolves with the thread's end. */
function watchExit(worker: Worker, onExit: (error: Error) => void): Promise<void> {
  let failure: Error | undefined;
  worker.on('error', (error: Error) => {
    failure = error;
  });
  return new Promise((resolve) => {
    worker.once('exit', (code) => {
      onExit(failure ?? new Error(`the writing thread has ended with code ${code}`));
      resolve();
    });
  });
}
