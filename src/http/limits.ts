import { SECOND } from '#shared/clock.ts';

/** Longer request targets get 414. Cursors, labels and ids fit many times over. */
export const URI_BYTES_MAX = 8 * 1024;

/** What one connection may take. Tests shorten the times. */
export type ServerLimits = {
  /** Milliseconds until the headers of a request must be complete. */
  headersTimeoutMs: number;
  /** Milliseconds until the whole request must have come; not less than the headers' time. */
  requestTimeoutMs: number;
  /** Milliseconds between two looks at slow connections. */
  checkIntervalMs: number;
  /** Milliseconds that an idle connection stays open; longer than usual load balancers (60 s). */
  keepAliveTimeoutMs: number;
  /** Milliseconds without a byte in either direction, so that a reader cannot stall forever. */
  idleTimeoutMs: number;
  /** Bytes of a request's line and headers together. */
  headerBytesMax: number;
  /** Bytes of a body, where a route does not say otherwise. */
  bodyBytesMax: number;
  /** Bytes that all bodies of more than 64 KiB in flight hold together. */
  largeBodiesBytesMax: number;
  /** Bytes of one path segment that a route takes as a parameter. */
  paramBytesMax: number;
  /** Milliseconds that the event loop may lag before requests are turned away; 0: any time. */
  lagMsMax: number;
};

export const defaultLimits: Readonly<ServerLimits> = Object.freeze({
  headersTimeoutMs: 10 * SECOND,
  requestTimeoutMs: 10 * SECOND,
  checkIntervalMs: 1 * SECOND,
  keepAliveTimeoutMs: 72 * SECOND,
  idleTimeoutMs: 120 * SECOND,
  headerBytesMax: 16 * 1024,
  bodyBytesMax: 1024 * 1024,
  largeBodiesBytesMax: 64 * 1024 * 1024,
  paramBytesMax: 1024,
  lagMsMax: 1 * SECOND,
});
