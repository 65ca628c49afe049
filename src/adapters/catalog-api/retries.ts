import { SECOND } from '#shared/clock.ts';
import { doublingSchedule, jitteredWaitMsAfter, type Random } from '#shared/resilience/backoff.ts';

import { problemOf, type ServerResponse } from './response.ts';

/** About a quarter of a minute in all: longer than a server takes to start again. */
const WAITS = doublingSchedule(0.5 * SECOND, 8 * SECOND);
/** Whoever asks for a longer wait is asked again by the next run. */
const WAIT_MS_MAX = 120 * SECOND;

/** What makes sense to be sent again as it is: no connection, too much work, or a proxy without its server. */
export function isWorthRetrying(response: ServerResponse | undefined): boolean {
  if (response === undefined) return true;
  if ([408, 429, 502, 503, 504].includes(response.status)) return true;
  return response.status === 409 && problemOf(response)?.code === 'idempotency-in-progress';
}

/**
 * Milliseconds until the next try after `failures` in a row, not before the server's `Retry-After`.
 * Undefined when there is no further one.
 */
export function waitMsBeforeRetry(
  failures: number,
  { response, now, random }: { response?: ServerResponse; now: number; random: Random },
): number | undefined {
  const waitMs = jitteredWaitMsAfter(WAITS, failures, random);
  if (waitMs === undefined) return undefined;
  const wanted = Math.max(waitMs, retryAfterMs(response, now));
  return wanted > WAIT_MS_MAX ? undefined : wanted;
}

/** `Retry-After` is whole seconds or a date (RFC 9110 §10.2.3); 0 for anything else. */
function retryAfterMs(response: ServerResponse | undefined, now: number): number {
  const value = response?.headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * SECOND;
  const at = /^[A-Z][a-z]{2}, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
