import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Clock, SECOND, sleepUntilAborted, untilAborted } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { entryUrl } from '#shared/program.ts';
import type { Job, JobResult } from './thread-main.ts';

/** A job that takes longer is given up, and so is a thread that takes longer to start. */
export const DEADLINE_MS = 5 * SECOND;
const WAITING_MAX = 32;
/** A thread that nobody needs gives its memory back. */
const IDLE_MS = 30 * SECOND;
/** Far more than a body needs. With a small young generation the process keeps 80 MB less of one. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/**
 * The thread did not come to an end with a job. The next job gets a new one. `NOT_STARTED`: the machine
 * is too busy to start it, which says nothing of the job.
 */
class ThreadError extends Error {
  readonly code: 'NOT_STARTED' | 'OUT_OF_TIME' | 'OUT_OF_MEMORY' | 'CRASHED';

  constructor(code: ThreadError['code'], cause?: unknown) {
    super(`a thread ended: ${code}`, { cause });
    this.name = 'ThreadError';
    this.code = code;
  }
}

/** True where the job itself takes too much, and will again; false where the machine is busy. */
export function isTooCostly(error: unknown): boolean {
  if (!(error instanceof ThreadError)) return false;
  return error.code === 'OUT_OF_TIME' || error.code === 'OUT_OF_MEMORY';
}

/** Functions that a thread can run: what they take and return is copied (structured clone). */
type Functions = Record<string, (input: never) => unknown>;

export type Thread<F> = {
  /**
   * Runs one of the module's functions, after the jobs that wait already. Its `TrackportError`s come
   * through.
   * @throws {ThreadError} @throws {overloaded} too many jobs wait @throws {bad-request} the caller hung up
   */
  run<N extends keyof F & string>(
    name: N,
    input: F[N] extends (input: infer I) => unknown ? I : never,
    options?: RunOptions,
  ): Promise<F[N] extends (input: never) => infer O ? Awaited<O> : never>;
};

type RunOptions = {
  /** Memory that is transferred instead of copied. */
  transfer?: readonly ArrayBuffer[];
  /** Of whoever waits for it. A job that nobody waits for loses its place, and what it holds is let go. */
  signal?: AbortSignal | undefined;
  /** Goes before all that wait and do not say so, whose places are counted apart. */
  isFirst?: boolean;
};

/** Jobs that wait for their turn in their order, and the number of those without an end yet. */
type Lane = { turns: (() => void)[]; open: number };

/**
 * A thread of its own for what would hold up everybody else, one job after another. It starts with
 * the first job, ends when it has none for a while, and never keeps the process alive by itself.
 */
export function createThread<F extends Functions>({
  module,
  clock,
}: {
  /** The module whose exported functions it runs. */
  module: URL;
  clock: Clock;
}): Thread<F> {
  const host = createHost(module, clock);
  const [first, others]: [Lane, Lane] = [
    { turns: [], open: 0 },
    { turns: [], open: 0 },
  ];
  let isBusy = false;
  const next = (): void => {
    const begin = isBusy ? undefined : (first.turns.shift() ?? others.turns.shift());
    isBusy ||= begin !== undefined;
    begin?.();
  };
  const inTurn = async (lane: Lane, work: () => Promise<JobResult>): Promise<JobResult> => {
    const { promise: turn, resolve } = Promise.withResolvers<void>();
    lane.turns.push(resolve);
    next();
    await turn;
    try {
      return await work();
    } finally {
      isBusy = false;
      next();
    }
  };
  return {
    run: async (name, input, { transfer = [], signal, isFirst = false } = {}) => {
      const lane = isFirst ? first : others;
      if (lane.open >= WAITING_MAX) refuseLoad();
      let wanted: Wanted | undefined = { job: { name, input }, transfer };
      lane.open += 1;
      const worked = inTurn(lane, async () =>
        wanted && signal?.aborted !== true ? host.work(wanted) : refuseAbsent(),
      );
      worked.catch(() => undefined); // whoever hung up hears nothing of it
      try {
        return open(await (signal ? untilAborted(worked, signal) : worked)) as never;
      } catch (error) {
        if (signal?.aborted === true) refuseAbsent();
        throw error;
      } finally {
        wanted = undefined;
        lane.open -= 1;
        if (first.open + others.open === 0) host.rest();
      }
    },
  };
}

/** A job that somebody waits for. */
type Wanted = { job: Job; transfer: readonly ArrayBuffer[] };

type Host = {
  /** Not before the last job has ended. @throws {ThreadError} */
  work(wanted: Wanted): Promise<JobResult>;
  /** There is no job for now. */
  rest(): void;
};

/** `loaded` resolves when the thread can begin with a job. */
type Started = { worker: Worker; loaded: Promise<unknown> };

function createHost(module: URL, clock: Clock): Host {
  let started: Started | undefined;
  let resting = new AbortController();
  const start = (): Started => {
    const worker = startWorker(module).once('exit', () => {
      if (started?.worker === worker) started = undefined;
    });
    const loaded = once(worker, 'message');
    loaded.catch(() => undefined); // whoever waits for it learns of it
    return { worker, loaded };
  };
  const endAfterRest = async (signal: AbortSignal): Promise<void> => {
    await sleepUntilAborted(clock, IDLE_MS, signal);
    if (signal.aborted) return;
    void started?.worker.terminate();
    started = undefined;
  };
  return {
    work: async ({ job, transfer }) => {
      resting.abort();
      const { worker, loaded } = (started ??= start());
      const done = new AbortController();
      const inTime = createDeadline(worker, clock, done.signal);
      worker.ref();
      try {
        await inTime(loaded, 'NOT_STARTED');
        worker.postMessage(job, transfer);
        const [result] = await inTime(
          once(worker, 'message', { signal: done.signal }),
          'OUT_OF_TIME',
        );
        return result as JobResult;
      } catch (error) {
        // Whatever it is at now, nobody waits for it.
        started = undefined;
        await worker.terminate();
        throw toThreadError(error);
      } finally {
        done.abort();
        worker.unref();
      }
    },
    rest: () => {
      resting.abort(); // callers that hung up before their jobs' turns end no rest
      const { signal } = (resting = new AbortController());
      void endAfterRest(signal);
    },
  };
}

function startWorker(module: URL): Worker {
  const worker = new Worker(entryUrl('adapters/threads/thread-main'), {
    workerData: module.href,
    resourceLimits: HEAP_LIMITS,
    execArgv: ['--enable-source-maps'],
  });
  // Whoever waits for it has other listeners; without one here nobody may be waiting.
  return worker.on('error', () => undefined);
}

type InTime = <T>(outcome: Promise<T>, codeWhenLate: ThreadError['code']) => Promise<T>;

function createDeadline(worker: Worker, clock: Clock, signal: AbortSignal): InTime {
  const fail = (code: ThreadError['code']) => (): never => {
    throw new ThreadError(code);
  };
  const ended = once(worker, 'exit', { signal }).then(fail('CRASHED'));
  ended.catch(() => undefined); // when nobody waits any more
  return (outcome, codeWhenLate) => {
    const late = clock.sleep(DEADLINE_MS, { signal, unref: true }).then(fail(codeWhenLate));
    return Promise.race([outcome, ended, late]);
  };
}

function open(result: JobResult): unknown {
  if (result.kind === 'done') return result.value;
  if (result.kind === 'refused') throw new TrackportError(result.code, result.options);
  throw new Error(`a job failed in its thread: ${result.name}`);
}

/** @see https://nodejs.org/api/errors.html#err_worker_out_of_memory */
function toThreadError(error: unknown): ThreadError {
  if (error instanceof ThreadError) return error;
  const { code } = error as NodeJS.ErrnoException;
  return new ThreadError(code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'OUT_OF_MEMORY' : 'CRASHED', error);
}

/** Nobody reads this response. */
function refuseAbsent(): never {
  throw new TrackportError('bad-request', { detail: 'The caller hung up.' });
}

function refuseLoad(): never {
  throw new TrackportError('overloaded', {
    detail: 'Too much large work waits for its turn: bodies or specs.',
    retryAfterSeconds: DEADLINE_MS / SECOND,
  });
}

/** Longer texts go to a thread. */
const INLINE_BYTES_MAX = 256 * 1024;
/** So do shorter ones with more members and elements: parsing costs by values, not by bytes. */
const INLINE_VALUES_MAX = 10_000;
/** Not worth counting: nothing that fits in here takes long. */
const UNCOUNTED_BYTES_MAX = 16 * 1024;

/** False for what is parsed in a few milliseconds, whatever it is. Texts full of commas are not. */
export function isHeavy(bytes: Uint8Array): boolean {
  if (bytes.length <= UNCOUNTED_BYTES_MAX) return false;
  if (bytes.length > INLINE_BYTES_MAX) return true;
  let values = 0;
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  return values > INLINE_VALUES_MAX;
}

/** Translates the end of a thread, which the caller cannot mend. @throws {overloaded} with `detail` */
export function refuseThread(
  error: unknown,
  detail = 'The body could not be read in time.',
): never {
  if (!(error instanceof ThreadError)) throw error;
  throw new TrackportError('overloaded', {
    detail,
    retryAfterSeconds: DEADLINE_MS / SECOND,
    cause: error,
  });
}
