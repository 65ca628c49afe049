import { SECOND } from '#shared/clock.ts';

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
