import type { components } from './api.ts';
import { CursorExpiredError, ProblemError } from './problem-error.ts';
import { isTransient, sleep, waitMsAfter } from './retry.ts';
import type { Place, Turn } from './transports.ts';

/** What became of a lead, and where to go on behind it: keep both, at once. */
export type Change = components['schemas']['LeadFeedItem'] & {
  /** For the next `changes`, for 30 days. */
  cursor: string;
};

export type ChangesOptions = {
  /** That of the last change in your copy. Without one the feed begins as `from` says. */
  cursor?: string | undefined;
  /** `start`: with every lead that is readable now. Default: with what changes from now on. */
  from?: 'start' | undefined;
  /** Default `auto`: a stream, or long polling where no stream comes through. */
  transport?: 'auto' | 'stream' | 'poll' | undefined;
  /** Ends it, with its reason as the error. */
  signal?: AbortSignal | undefined;
  /**
   * Empties your copy: the cursor has expired, and everything that is readable comes anew. Default: it ends with a
   * CursorExpiredError.
   */
  onExpired?: (() => void | Promise<void>) | undefined;
  /** Told of each failure that it goes on after, and how long it waits before, in ms. */
  onFailure?: ((error: unknown, waitMs: number) => void) | undefined;
};

/**
 * Follows the lead feed without an end, whatever breaks in between.
 * @throws ProblemError for what waiting does not mend; CursorExpiredError is one
 */
export async function* followChanges(
  turns: { stream: Turn; poll: Turn },
  options: ChangesOptions,
): AsyncGenerator<Change, void> {
  const { transport = 'auto', signal, onFailure } = options;
  const order = transport === 'auto' ? (['stream', 'poll'] as const) : [transport];
  let place = beginning(options);
  for (let failures = 0, at = 0; ; failures += 1) {
    const name = order[at % order.length] ?? 'poll';
    let isThrough = false;
    let failure: unknown = new Error('The stream ended.');
    try {
      for await (const step of turns[name](place, signal)) {
        const { cursor, item } = step;
        place = { cursor };
        isThrough = true;
        failures = 0;
        if (item) yield { ...item, cursor };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (isFinal(error, name)) place = await beginAgain(error, options);
      failure = error;
    }
    // The other one, until one comes through.
    if (!isThrough) at += 1;
    const waitMs = waitMsAfter(failures, (failure as Partial<ProblemError>).retryAfterMs);
    onFailure?.(failure, waitMs);
    await sleep(waitMs, signal);
  }
}

function beginning({ cursor, from }: ChangesOptions): Place {
  if (cursor !== undefined) return { cursor };
  return from === undefined ? {} : { from };
}

async function beginAgain(error: unknown, { onExpired }: ChangesOptions): Promise<Place> {
  if (!onExpired || !(error instanceof CursorExpiredError)) throw error;
  await onExpired();
  return { from: 'start' };
}

/** A proxy that refuses a stream may let a poll through. */
function isFinal(error: unknown, transport: 'stream' | 'poll'): boolean {
  if (!(error instanceof ProblemError) || isTransient(error.status)) return false;
  return error.code !== undefined || transport === 'poll';
}
