import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Connections whose request was answered before its whole body had come. What then goes wrong with
 * the rest gets no second answer: a client would take it for that of its next request.
 */
export type EarlyAnswers = {
  /** To be called when a request was answered. */
  note(request: IncomingMessage): void;
  /** True while the connection still brings the body of an answered request. */
  isAnswered(socket: Duplex): boolean;
};

export function createEarlyAnswers(): EarlyAnswers {
  const last = new WeakMap<Duplex, IncomingMessage>();
  return {
    note: (request) => {
      if (!request.complete) last.set(request.socket, request);
    },
    isAnswered: (socket) => last.get(socket)?.complete === false,
  };
}
