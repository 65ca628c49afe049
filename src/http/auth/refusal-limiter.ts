import { isIPv6 } from 'node:net';
import { createLimiter, refuseOverLimit } from '#access/limit.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';

/**
 * Counts refused credentials by address, so that guessing is slow. Passes an `unauthorized` on, or `quota-exceeded` in
 * its place once the address has used up its share of the minute; anything else is passed on uncounted.
 */
export type RethrowRefusal = (address: string, error: unknown) => never;

/** Allows so many refusals an address and minute. */
export function createRefusalLimiter(clock: Clock, refusedPerMinute: number): RethrowRefusal {
  const limiter = createLimiter(clock);
  return (address, error) => {
    if (isTrackportError(error, 'unauthorized')) {
      const state = limiter.take(groupOf(address), refusedPerMinute);
      if (state.isExceeded) refuseOverLimit(state);
    }
    throw error;
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
