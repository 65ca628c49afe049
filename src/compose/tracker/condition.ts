import {
  isTrackerFailure,
  type TrackerFailure,
  type TrackerFailureKind,
} from '#adapters/github/transport/failure.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import { type Clock, SECOND } from '#shared/clock.ts';

/** How calls to the tracker have gone lately. */
export type TrackerCondition =
  /** `unknown`: none has succeeded yet, and too few have failed. */
  | { state: 'unknown' | 'ok' }
  | {
      state: 'failing';
      /** Kind of the last failure, with the status or the socket's code: `server (503)`. */
      cause: string;
      /** When the first of the failures in a row came; milliseconds since the Unix epoch. */
      since: number;
    };

/** Follows calls to the tracker, whoever makes them. */
export type TrackerWatch = {
  /** The same tracker; every call's end is noted. */
  watch(tracker: LeadTracker): LeadTracker;
  /** The same call; it is noted when it fails, of one kind or any. Its success says too little. */
  noteFailure<T>(call: Promise<T>, kind?: TrackerFailureKind): Promise<T>;
  condition(): TrackerCondition;
  /** The last failure since the start; `at` in ms since the Unix epoch. */
  lastFailure(): { cause: string; at: number } | undefined;
};

const FAILURES_IN_A_ROW = 3;
const PROBE_EVERY_MS = 30 * SECOND;

/** One failure can be one call's bad luck; a credential that is refused is nobody's. */
export function createTrackerWatch(clock: Pick<Clock, 'now'>): TrackerWatch {
  let hasSucceeded = false;
  let failures = 0;
  let since = 0;
  let last: TrackerFailure | undefined;
  let lastAt = 0;

  const failed = (failure: TrackerFailure): void => {
    if (failures === 0) since = clock.now();
    failures += failure.kind === 'unauthorized' ? FAILURES_IN_A_ROW : 1;
    last = failure;
    lastAt = clock.now();
  };
  const noteFailure: TrackerWatch['noteFailure'] = (call, kind) =>
    call.catch((error: unknown) => {
      const failure = failureIn(error);
      if (failure && (kind === undefined || failure.kind === kind)) failed(failure);
      throw error;
    });
  const note = async <T>(call: Promise<T>): Promise<T> => {
    const result = await noteFailure(call);
    hasSucceeded = true;
    failures = 0;
    return result;
  };
  return {
    watch: (tracker) => ({
      listIssues: (query, validator) => note(tracker.listIssues(query, validator)),
      readIssue: (number, validator) => note(tracker.readIssue(number, validator)),
      quota: () => tracker.quota(),
    }),
    noteFailure,
    lastFailure: () => last && { cause: describe(last), at: lastAt },
    condition: () => {
      if (last && failures >= FAILURES_IN_A_ROW)
        return { state: 'failing', cause: describe(last), since };
      return { state: hasSucceeded ? 'ok' : 'unknown' };
    },
  };
}

/**
 * Makes a small request to the watched tracker, so that the end of its failures is noticed although
 * nobody reads; every half minute at most.
 */
export function createTrackerProbe(
  tracker: LeadTracker,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): () => void {
  let probedAt = -Infinity;
  return () => {
    const at = clock.monotonicMs();
    if (at - probedAt < PROBE_EVERY_MS) return;
    probedAt = at;
    tracker
      .listIssues({ state: 'all', labels: [], order: 'updated-asc', since: clock.now() })
      .catch(() => undefined); // noted already
  };
}

function failureIn(error: unknown): TrackerFailure | undefined {
  const failure = error instanceof Error && !isTrackerFailure(error) ? error.cause : error;
  return isTrackerFailure(failure) ? failure : undefined;
}

function describe({ kind, status, reason }: TrackerFailure): string {
  const detail = status ?? reason;
  return detail === undefined ? kind : `${kind} (${detail})`;
}
