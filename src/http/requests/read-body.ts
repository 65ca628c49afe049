import type { Readable } from 'node:stream';
import type { FastifyRequest, onSendHookHandler, RouteOptions } from 'fastify';
import { TrackportError } from '#shared/errors.ts';
import type { BodyBudget } from './body-budget.ts';
import { createBodyBytes } from './body-bytes.ts';

const RETRY_AFTER_SECONDS = 2;

/** Reads bodies within the limit of the route and the budget of the server. */
export type ReadBody = (request: FastifyRequest, payload: Readable) => Promise<Buffer>;

/**
 * Fastify's own reading bounds each body, but not all of them together. What a body holds is
 * counted until its response is sent: see `releaseBodies`.
 */
export function createBodyReader(budget: BodyBudget): ReadBody {
  return async (request, payload) => {
    if (!budget.hasRoomFor(declaredBytes(request) ?? 0)) throw noRoom();
    const hold = (request.bodyHold = budget.hold());
    const { bodyLimit } = request.routeOptions;
    let bytes = 0;
    return collectBytes(payload, bodyLimit, (more) => {
      bytes += more;
      if (bytes > bodyLimit) return tooLarge();
      return hold.add(more) ? undefined : noRoom();
    });
  };
}

/** All bytes of a body, `bytesMax` at most, unless `refuse` has something against the next ones. */
export function collectBytes(
  payload: Readable,
  bytesMax: number,
  refuse: (bytes: number) => Error | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = createBodyBytes(payload, bytesMax);
    const finish = (error?: Error): void => {
      payload.off('data', onData).off('end', onEnd).off('error', finish);
      if (!error) return resolve(body.take());
      body.drop();
      reject(error);
    };
    const onEnd = (): void => finish();
    const onData = (chunk: Buffer): void => {
      const refusal = refuse(chunk.length);
      if (refusal) finish(refusal);
      else body.add(chunk);
    };
    payload.on('data', onData).on('end', onEnd).on('error', finish);
  });
}

/** A body is not needed any more when the response is sent, also when its client has gone. */
export function releaseBodies(route: RouteOptions): void {
  if (isBodilessRoute(route)) return;
  route.onSend = [releaseBody, ...[route.onSend ?? []].flat()];
}

const releaseBody: onSendHookHandler = (request, _reply, payload, done) => {
  request.bodyHold?.release();
  done(null, payload);
};

/** True for methods whose body means nothing, and is never looked at (RFC 9110 section 9.3.1). */
export function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The same of a route: true when all its methods are such. */
export function isBodilessRoute({ method }: Pick<RouteOptions, 'method'>): boolean {
  return [method].flat().every(isBodiless);
}

/** Bytes that the body is said to have; undefined when it comes in chunks. Node checks the number. */
export function declaredBytes({ headers }: Pick<FastifyRequest, 'headers'>): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  if (length !== undefined) return Number(length);
  return encoding === undefined ? 0 : undefined;
}

/** The 413 of a body beyond the limit of its route. */
export function tooLarge(): TrackportError {
  return new TrackportError('payload-too-large', {
    detail: 'The body is larger than this path accepts.',
  });
}

function noRoom(): TrackportError {
  return new TrackportError('overloaded', {
    detail: 'Too many large bodies are on their way. Smaller ones are taken.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
