import { type Clock, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import { doublingSchedule, waitMsAfter } from '#shared/resilience/backoff.ts';
import { type Headers, retryAfterMs, TrackerFailure } from './response.ts';

const WINDOW_MS = HOUR;
/** Waits after refusals in a row that name no time. */
const THROTTLES = doublingSchedule(MINUTE, 16 * MINUTE);

/** A response with the signs of its limits. */
type ObservedResponse = {
  status: number;
  headers: Headers;
  /** Quota that the request is counted against when the response does not name it: `core`, `graphql`. */
  resource: string;
  /** The response's text says that a rate limit was exceeded. */
  saysLimited: boolean;
};

/**
 * The rate limits of one credential, as its responses tell them.
 * @see https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
export type RateLimits = {
  /** @throws {TrackerFailure} `limited` while a limit on `resource` is in force */
  assertAllowed(resource: string): void;
  /** Takes note of a response. True when it refuses because of a limit. */
  note(response: ObservedResponse): boolean;
  /** The primary limit of REST calls. */
  quota: () => TrackerQuota | undefined;
};

export function createRateLimits(clock: Clock): RateLimits {
  const quotas = new Map<string, TrackerQuota>();
  const throttledUntil = new Map<string, number>();
  let refusals = 0;

  const throttle = (resource: string, ms: number): void => {
    const until = clock.monotonicMs() + ms;
    throttledUntil.set(resource, Math.max(until, throttledUntil.get(resource) ?? 0));
  };
  const waitMs = (resource: string): number =>
    Math.max(throttledUntil.get(resource) ?? 0, throttledUntil.get(EVERY_RESOURCE) ?? 0) -
    clock.monotonicMs();

  const noteQuota = ({ headers, resource }: ObservedResponse): void => {
    const reported = quotaOf(headers, clock.now());
    if (!reported) return;
    const name = headers['x-ratelimit-resource']?.toString() ?? resource;
    const quota = newerOf(quotas.get(name), reported, clock.now());
    quotas.set(name, quota);
    if (quota.remaining === 0) throttle(name, quota.resetAt - clock.now());
  };

  const noteRefusal = ({ headers, resource }: ObservedResponse): void => {
    const retryAfter = retryAfterMs(headers, clock.now());
    if (retryAfter !== undefined) return throttle(EVERY_RESOURCE, retryAfter);
    // Requests that were in flight together are refused together: that counts once.
    if (waitMs(resource) > 0) return undefined;
    refusals += 1;
    throttle(EVERY_RESOURCE, waitMsAfter(THROTTLES, refusals));
    return undefined;
  };

  return {
    assertAllowed: (resource) => {
      const wait = waitMs(resource);
      if (wait <= 0) return;
      throw new TrackerFailure('limited', { retryAfterSeconds: Math.ceil(wait / SECOND) });
    },
    note: (response) => {
      noteQuota(response);
      if (isLimitRefusal(response)) {
        noteRefusal(response);
        return true;
      }
      if (response.status < 400) refusals = 0;
      return false;
    },
    quota: () => current(quotas.get('core'), clock.now()),
  };
}

const EVERY_RESOURCE = '*';

/** A 403 is also the response to a missing permission; that one carries none of these signs. */
function isLimitRefusal({ status, headers, saysLimited }: ObservedResponse): boolean {
  if (status === 429) return true;
  if (status !== 403) return saysLimited && status < 300;
  if (headers['retry-after'] !== undefined) return true;
  return numberOf(headers['x-ratelimit-remaining']) === 0 || saysLimited;
}

/** No window is longer than an hour, whatever is named: nobody shall wait for that. */
function quotaOf(headers: Headers, now: number): TrackerQuota | undefined {
  const limit = numberOf(headers['x-ratelimit-limit']);
  const remaining = numberOf(headers['x-ratelimit-remaining']);
  const reset = numberOf(headers['x-ratelimit-reset']);
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAt: Math.min(reset * SECOND, now + WINDOW_MS) };
}

/** Responses overtake each other: within one window the smallest remainder is the newest. */
function newerOf(
  known: TrackerQuota | undefined,
  reported: TrackerQuota,
  now: number,
): TrackerQuota {
  if (!known || known.resetAt !== reported.resetAt || known.resetAt <= now) return reported;
  return reported.remaining <= known.remaining ? reported : known;
}

/** After the reset a whole new window is there, though nobody has said so yet. */
function current(quota: TrackerQuota | undefined, now: number): TrackerQuota | undefined {
  if (!quota || now < quota.resetAt) return quota;
  return { ...quota, remaining: quota.limit };
}

function numberOf(value: string | number | undefined): number | undefined {
  const text = value?.toString().trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
