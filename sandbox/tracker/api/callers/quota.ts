import { type Clock, HOUR, SECOND } from '#shared/clock.ts';

const ANONYMOUS_PER_HOUR = 60;

/** One caller's primary limit. `resetAt` is in milliseconds. */
export type QuotaState = { limit: number; remaining: number; resetAt: number };

/** Counts requests per caller and resource within windows of one hour. */
export type Quota = {
  state(key: string, resource: string): QuotaState;
  spend(key: string, resource: string): void;
  /** Sets what every caller has left, from now on: for tests of limits. */
  set(patch: Partial<QuotaState>): void;
};

export function createQuota(clock: Clock, perHour: number): Quota {
  const windows = new Map<string, QuotaState>();
  let override: Partial<QuotaState> = {};
  const state = (key: string, resource: string): QuotaState => {
    const name = `${resource} ${key}`;
    const known = windows.get(name);
    if (known && known.resetAt > clock.now()) return known;
    const limit = override.limit ?? (key === 'anonymous' ? ANONYMOUS_PER_HOUR : perHour);
    const fresh = { limit, remaining: limit, resetAt: nextReset(clock) };
    // An exhausted quota that a test set ends with its own window, like any other.
    const opened = known ? fresh : { ...fresh, ...override };
    windows.set(name, opened);
    return opened;
  };
  return {
    state,
    spend: (key, resource) => {
      const window = state(key, resource);
      window.remaining = Math.max(0, window.remaining - 1);
    },
    set: (patch) => {
      override = patch;
      for (const window of windows.values()) Object.assign(window, patch);
    },
  };
}

function nextReset(clock: Clock): number {
  return Math.ceil((clock.now() + HOUR) / SECOND) * SECOND;
}

/** The `x-ratelimit-*` headers of a state. */
export function quotaHeaders(state: QuotaState, resource: string): Record<string, string> {
  return {
    'x-ratelimit-limit': String(state.limit),
    'x-ratelimit-remaining': String(state.remaining),
    'x-ratelimit-reset': String(Math.ceil(state.resetAt / SECOND)),
    'x-ratelimit-resource': resource,
    'x-ratelimit-used': String(state.limit - state.remaining),
  };
}
