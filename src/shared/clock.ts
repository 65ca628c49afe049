import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** The one source of time. Tests pass a clock that they move. */
export type Clock = {
  /** Milliseconds since the Unix epoch: for instants that are stored, sent or shown. */
  now(): number;
  /**
   * Milliseconds since an instant of no meaning, which no one can set: for what is measured or
   * waited for within this process. Never decreases.
   */
  monotonicMs(): number;
  /**
   * Resolves after `ms` milliseconds, at once when `ms` ≤ 0.
   * Rejects with the signal's reason when it is aborted; never keeps the process alive by itself
   * when `unref` is set.
   */
  sleep(ms: number, options?: { signal?: AbortSignal; unref?: boolean }): Promise<void>;
};

/**
 * Shows the time as the tracker has it: leads, deletions and events of partners go by it, for what they note is held
 * against instants that the tracker told. All else goes by this machine's.
 */
export type TrackerTime = Clock & { readonly isTrackers: true };

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The UTC day of an instant, in days since the Unix epoch. */
export const dayOf = (at: number): number => Math.floor(at / DAY);

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, { signal, unref = false } = {}) => {
    signal?.throwIfAborted();
    if (ms <= 0) return;
    // The platform rejects with an error of its own.
    await setTimeout(ms, undefined, { signal, ref: !unref }).catch(() => signal?.throwIfAborted());
  },
};

/** Sleeps for `ms`, or until the signal is aborted, without keeping the process alive. Never rejects. */
export async function sleepUntilAborted(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  await clock.sleep(ms, { signal, unref: true }).catch(() => undefined);
}

/** RFC 3339 in UTC with `Z`; whole seconds are written without a fraction. */
export function toRfc3339(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const SINCE =
  /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+\- ]([01]\d|2[0-3]):[0-5]\d))?$/i;

/**
 * Milliseconds since the Unix epoch of an RFC 3339 date-time with a zone, or of a date (midnight,
 * UTC). A space before the offset is a `+` that a form decoder took. Undefined for anything else, and
 * for what its zone moves out of the years 0 to 9999, which RFC 3339 cannot write in UTC.
 */
export function parseSince(text: string): number | undefined {
  const date = SINCE.exec(text)?.[1];
  if (date === undefined || !isOnCalendar(date)) return undefined;
  const ms = Date.parse(text.replace(' ', '+').toUpperCase());
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}

/**
 * True for a date, or a time of it to the minute (`2026-01-31T23:59`), that there is: `Date.parse` would make the 2nd of
 * March of 30 February, and the next day of the hour 24.
 */
export function isOnCalendar(text: string): boolean {
  const local = text.toUpperCase();
  const ms = Date.parse(local.includes('T') ? `${local}Z` : local);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(local);
}

/**
 * `promise`, but rejects with the signal's reason as soon as it is aborted. A failure of `promise`
 * after that is nobody's any more.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
