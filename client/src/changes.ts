import { CursorExpiredError, ProblemError } from './problem-error.ts';
import { isTransient, sleep, waitMsAfter } from './retry.ts';
import type { Change, ChangeBatch, Place, Turns } from './transports.ts';

export type BatchesOptions = {
  /** The cursor of your copy. Without one the feed begins as `from` says. */
  cursor?: string | undefined;
  /** `start`: with every lead that is readable now. Default: with what changes from now on. */
  from?: 'start' | undefined;
  /** Once all that was there is told. Default `auto`: a stream, or long polling where no stream comes through. */
  transport?: 'auto' | 'stream' | 'poll' | undefined;
  /** Ends it, with its reason as the error. */
  signal?: AbortSignal | undefined;
  /** Told of each failure that it goes on after, and how long it waits before, in ms. */
  onFailure?: ((error: unknown, waitMs: number) => void) | undefined;
};

export type ChangesOptions = BatchesOptions & {
  /**
   * Empties your copy: the cursor has expired, and everything that is readable comes anew. Default: it ends with a
   * CursorExpiredError.
   */
  onExpired?: (() => void | Promise<void>) | undefined;
};

/**
 * Follows the lead feed without an end, whatever breaks in between: page by page until all that is there is told, then
 * as it comes.
 * @throws ProblemError for what waiting does not mend; CursorExpiredError is one
 */
export async function* followBatches(
  turns: Turns,
  options: BatchesOptions,
): AsyncGenerator<ChangeBatch, void> {
  const { transport = 'auto', signal } = options;
  const order = transport === 'auto' ? (['stream', 'poll'] as const) : [transport];
  let place = beginning(options);
  for (let failures = 0, at = 0; ; failures += 1) {
    let last: keyof Turns | undefined;
    let failure: unknown = new Error('The stream ended.');
    try {
      for await (const { turn, batch } of readOn(turns, order[at] ?? 'poll', place, signal)) {
        place = { cursor: batch.cursor };
        last = turn;
        if (turn !== 'pages' || batch.changes.length > 0) failures = 0;
        yield batch;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (isFinal(error)) throw error;
      failure = error;
    }
    // The other one, until one comes through.
    if (last === 'pages') at = (at + 1) % order.length;
    await waitAfter(failure, failures, options);
  }
}

const isFinal = (error: unknown): boolean =>
  error instanceof ProblemError && !isTransient(error.status);

async function waitAfter(
  failure: unknown,
  failures: number,
  { onFailure, signal }: BatchesOptions,
): Promise<void> {
  const { retryAfterMs } = failure as Partial<ProblemError>;
  const waitMs = waitMsAfter(failures, retryAfterMs);
  onFailure?.(failure, waitMs);
  await sleep(waitMs, signal);
}

/** Waits before everything is read anew: not after a first expired cursor, then longer each time, until one has held. */
export function createExpiry(options: BatchesOptions) {
  let failures = -1;
  let caughtUp = 0;
  return {
    /** A second time tells that a cursor was taken. */
    noteCaughtUp: (): void => {
      caughtUp += 1;
      if (caughtUp > 1) failures = -1;
    },
    wait: async (error: CursorExpiredError): Promise<void> => {
      failures += 1;
      caughtUp = 0;
      if (failures > 0) await waitAfter(error, failures - 1, options);
    },
  };
}

/** All that is there, and then what comes. */
async function* readOn(turns: Turns, live: keyof Turns, from: Place, signal?: AbortSignal) {
  let place = from;
  for (const turn of ['pages', live] as const)
    for await (const batch of turns[turn](place, signal)) {
      place = { cursor: batch.cursor };
      yield { turn, batch };
    }
}

/** Follows change by change. */
export async function* followChanges(
  turns: Turns,
  { onExpired, ...options }: ChangesOptions,
): AsyncGenerator<Change, void> {
  const expiry = createExpiry(options);
  for (let begun = options; ; begun = { ...options, cursor: undefined, from: 'start' })
    try {
      for await (const { changes, caughtUp } of followBatches(turns, begun)) {
        yield* changes;
        if (caughtUp) expiry.noteCaughtUp();
      }
    } catch (error) {
      if (!onExpired || !(error instanceof CursorExpiredError)) throw error;
      await expiry.wait(error);
      await onExpired();
    }
}

function beginning({ cursor, from }: BatchesOptions): Place {
  if (cursor !== undefined) return { cursor };
  return from === undefined ? {} : { from };
}
