/** Limits of a connection, and of the credentials that an address gets wrong. */
import { isIPv6 } from 'node:net';
import { type Clock, SECOND } from '#shared/clock.ts';
import { createLimiter, overLimit } from '#access/limit.ts';
import { isTrackportError } from '#shared/errors.ts';

/** Longer request targets get 414. Cursors, labels and ids fit many times over. */
export const URI_BYTES_MAX = 8 * 1024;

/** Limits of one connection. */
export const defaultLimits = Object.freeze({
  /** Milliseconds until the headers of a request must be complete. */
  headersTimeoutMs: 10 * SECOND,
  /** Milliseconds until the whole request must have come; not less than the headers' time. */
  requestTimeoutMs: 10 * SECOND,
  /** Milliseconds between two looks at slow connections. */
  checkIntervalMs: 1 * SECOND,
  /** Milliseconds that an idle connection stays open; longer than usual load balancers (60 s). */
  keepAliveTimeoutMs: 72 * SECOND,
  /** Milliseconds without a byte in either direction, so that a reader cannot stall forever. */
  idleTimeoutMs: 120 * SECOND,
  /** Bytes of a request's line and headers together. */
  headerBytesMax: 16 * 1024,
  /** Bytes of a body, where a route does not say otherwise. */
  bodyBytesMax: 1024 * 1024,
  /** Bytes that all bodies of more than 64 KiB in flight hold together. */
  largeBodiesBytesMax: 64 * 1024 * 1024,
  /** Bytes of one path segment that a route takes as a parameter. */
  paramBytesMax: 1024,
  /** Milliseconds that the event loop may lag before requests are turned away; 0: any time. */
  lagMsMax: 1 * SECOND,
});

/** Tests shorten the times. */
export type ServerLimits = Record<keyof typeof defaultLimits, number>;

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
