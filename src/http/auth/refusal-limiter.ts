import { isIPv6 } from 'node:net';
import { createLimiter, overLimit } from '#access/limit.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';

/**
 * Counts refused credentials by address, so that guessing is slow. Returns what is to be thrown: an `unauthorized` as it
 * is, or `quota-exceeded` in its place once the address has used up its share of the minute; anything else uncounted.
 */
export type CountRefusal = (address: string, error: unknown) => unknown;

/** Allows so many refusals an address and minute. */
export function createRefusalLimiter(clock: Clock, refusedPerMinute: number): CountRefusal {
  const limiter = createLimiter(clock);
  return (address, error) => {
    if (!isTrackportError(error, 'unauthorized')) return error;
    const state = limiter.take(groupOf(address), refusedPerMinute);
    return state.isExceeded ? overLimit(state) : error;
  };
}

/** One customer usually holds a whole IPv6 /64, so that is what counts as one address. */
function groupOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  const whole = [...groups, ...Array<string>(Math.max(0, missing)).fill('0')];
  return whole.slice(0, 4).join(':');
}
