import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Connections on which a response was sent before the whole body of its request had come. What then
 * goes wrong with the rest gets no second response: a client would take it for that of its next
 * request.
 */
export type EarlyResponses = {
  /** To be called when a response was sent. */
  note(request: IncomingMessage): void;
  /** True while the connection still brings the body of a request that has its response. */
  hasResponded(socket: Duplex): boolean;
};

export function createEarlyResponses(): EarlyResponses {
  const last = new WeakMap<Duplex, IncomingMessage>();
  return {
    note: (request) => {
      if (!request.complete) last.set(request.socket, request);
    },
    hasResponded: (socket) => last.get(socket)?.complete === false,
  };
}
