import type { LeadTracker } from '#leads/lead-tracker.ts';
import { type Clock, MINUTE, SECOND, toRfc3339 } from '#shared/clock.ts';
import { isTrackerFailure, type TrackerFailure } from './transport/response.ts';
import { API_VERSION, type TrackerExchange, type VersionEnd } from './transport/client.ts';

/** Condition of the tracker, by the last calls to it. */
export type TrackerCondition =
  /** `unknown`: none has succeeded yet, and too few have failed. */
  | { state: 'unknown' | 'ok' }
  | {
      state: 'failing';
      /** Kind of the last failure, with the status or the socket's code: `server (503)`. */
      cause: string;
      /** Time of the first of the failures in a row; milliseconds since the Unix epoch. */
      since: number;
    };

/** Follows calls to the tracker, whoever makes them. */
export type TrackerWatch = {
  /** Notes the end of every call to the tracker. */
  noteCalls(tracker: LeadTracker): LeadTracker;
  /** Notes a call when it fails. Its success says too little. */
  noteFailure<T>(call: Promise<T>): Promise<T>;
  /** Notes of a request whether the credential is taken; what else fails can be about one issue. */
  noteCredential<T>(request: Promise<T>): Promise<T>;
  /** Notes of a response whether the version of the API ends that we speak. */
  noteVersion(exchange: Pick<TrackerExchange, 'versionEnd'>): void;
  condition(): TrackerCondition;
  /** The last failure since the start; `at` in ms since the Unix epoch. */
  lastFailure(): { cause: string; at: number } | undefined;
  /** For people; undefined as long as no end of our version is announced. */
  versionNotice(): string | undefined;
  /** The credential may be another one: while calls fail the tracker is asked at once. */
  askAgain(): void;
};

/** Asks the tracker by itself while its calls fail. */
type TrackerProbe = {
  clock: Pick<Clock, 'now' | 'monotonicMs' | 'sleep'>;
  /** Makes a small request to the watched tracker. Never throws. */
  ask: () => Promise<void>;
  /** Ends the asking. */
  cut?: AbortSignal | undefined;
};

const FAILURES_IN_A_ROW = 3;
/** One failure without a success since is more than a call's bad luck after this. */
const FAILING_AFTER_MS = 15 * SECOND;
/** Nobody may call, or all may be told to wait: then the watch asks by itself, so long after the last call. */
const ASK_FIRST_AFTER_MS = 10 * SECOND;
const ASK_EVERY_MS = 30 * SECOND;
/** Longer than from one probe of the worker to the next, which tells as much. */
const ASK_REFUSED_EVERY_MS = MINUTE + 10 * SECOND;

/** Calls so far. Instants are ms since the Unix epoch; with `Ms` at the end, of the monotonic clock. */
type State = {
  hasSucceeded: boolean;
  /** Since the last success. */
  failures: number;
  since: number;
  sinceMs: number;
  calledAtMs: number;
  last?: { failure: TrackerFailure; at: number };
  isAsking: boolean;
  versionEnd?: VersionEnd;
};

/** One failure can be one call's bad luck; a credential that is refused is nobody's. */
export function createTrackerWatch(probe: TrackerProbe): TrackerWatch {
  const { clock, ask } = probe;
  const state: State = {
    hasSucceeded: false,
    failures: 0,
    since: 0,
    sinceMs: 0,
    calledAtMs: 0,
    isAsking: false,
  };
  const noted = async <T>(
    call: Promise<T>,
    isNoted: (failure: TrackerFailure) => boolean = () => true,
  ): Promise<T> => {
    state.calledAtMs = clock.monotonicMs();
    try {
      return await call;
    } catch (error) {
      const failure = failureIn(error);
      if (failure && isNoted(failure)) noteFailure(probe, state, failure);
      throw error;
    }
  };
  const note = async <T>(call: Promise<T>): Promise<T> => {
    const result = await noted(call);
    state.hasSucceeded = true;
    state.failures = 0;
    return result;
  };
  return {
    noteCalls: (tracker) => ({
      listIssues: (query, validator) => note(tracker.listIssues(query, validator)),
      readIssue: (number, validator) => note(tracker.readIssue(number, validator)),
      quota: tracker.quota,
    }),
    noteFailure: (call) => noted(call),
    noteCredential: async (request) => {
      const response = await noted(request, ({ kind }) => kind === 'unauthorized');
      if (isRefused(state)) state.failures = 0;
      return response;
    },
    noteVersion: ({ versionEnd }) => {
      if (versionEnd) state.versionEnd = versionEnd;
    },
    versionNotice: () => state.versionEnd && describeEnd(state.versionEnd),
    lastFailure: () => state.last && { cause: describe(state.last.failure), at: state.last.at },
    condition: () => conditionOf(state, clock.monotonicMs()),
    askAgain: () => {
      if (state.failures > 0) void ask();
    },
  };
}

function noteFailure(probe: TrackerProbe, state: State, failure: TrackerFailure): void {
  const { clock } = probe;
  state.last = { failure, at: clock.now() };
  if (state.failures === 0) {
    state.since = state.last.at;
    state.sinceMs = clock.monotonicMs();
  }
  state.failures += isRefused(state) ? FAILURES_IN_A_ROW : 1;
  if (!state.isAsking) void askUntilWell(probe, state);
}

function isRefused({ last }: State): boolean {
  return last?.failure.kind === 'unauthorized';
}

function conditionOf(
  { failures, sinceMs, since, last, hasSucceeded }: State,
  nowMs: number,
): TrackerCondition {
  const isLong = failures > 0 && nowMs - sinceMs >= FAILING_AFTER_MS;
  if (last && (isLong || failures >= FAILURES_IN_A_ROW))
    return { state: 'failing', cause: describe(last.failure), since };
  return { state: hasSucceeded ? 'ok' : 'unknown' };
}

/** Never throws. */
async function askUntilWell({ clock, ask, cut }: TrackerProbe, state: State): Promise<void> {
  const isOver = (): boolean => state.failures === 0 || cut?.aborted === true;
  state.isAsking = true;
  let everyMs = ASK_FIRST_AFTER_MS;
  while (!isOver()) {
    const dueAtMs = state.calledAtMs + (isRefused(state) ? ASK_REFUSED_EVERY_MS : everyMs);
    const waitMs = dueAtMs - clock.monotonicMs();
    if (waitMs > 0) {
      await clock.sleep(waitMs, { signal: cut, unref: true }).catch(() => undefined);
      continue;
    }
    everyMs = ASK_EVERY_MS;
    state.calledAtMs = clock.monotonicMs();
    await ask();
  }
  state.isAsking = false;
}

/** A small request to the tracker, whose end is noted where it is watched. Never throws. */
export async function askTracker(tracker: LeadTracker, clock: Pick<Clock, 'now'>): Promise<void> {
  const since = clock.now();
  await tracker
    .listIssues({ state: 'all', labels: [], order: 'updated-asc', since })
    .catch(() => undefined);
}

function failureIn(error: unknown): TrackerFailure | undefined {
  const failure = error instanceof Error && !isTrackerFailure(error) ? error.cause : error;
  return isTrackerFailure(failure) ? failure : undefined;
}

function describe({ kind, status, reason }: TrackerFailure): string {
  const detail = status ?? reason;
  return detail === undefined ? kind : `${kind} (${detail})`;
}

function describeEnd({ deprecatedAt, sunsetAt }: VersionEnd): string {
  const since = deprecatedAt === undefined ? '' : ` as of ${toRfc3339(deprecatedAt)}`;
  const until = sunsetAt === undefined ? '' : `, and ends at ${toRfc3339(sunsetAt)}`;
  return `Version ${API_VERSION} of the tracker's API is deprecated${since}${until}.`;
}
