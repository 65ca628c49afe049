import type { Readable } from 'node:stream';
import type { FastifyRequest, onSendHookHandler, RouteOptions } from 'fastify';
import { TrackportError } from '#shared/errors.ts';
import type { BodyBudget, BodyHold } from './body-budget.ts';

const RETRY_AFTER_SECONDS = 2;

/** Takes the body, or why there is none. Called once. */
type TakeBody = (error: Error | null, bytes: Buffer) => void;

/** Reads bodies within the limit of the route and the budget of the server. */
export type ReadBody = (request: FastifyRequest, payload: Readable, take: TakeBody) => void;

const nothing = Buffer.alloc(0);

/**
 * Fastify's own reading bounds each body, but not all of them together. What a body holds is
 * counted until its call is answered: see `releaseBody`.
 */
export function createBodyReader(budget: BodyBudget): ReadBody {
  return (request, payload, take) => {
    const declared = declaredBytes(request) ?? 0;
    if (!budget.hasRoomFor(declared)) {
      take(noRoom(), nothing);
      return;
    }
    const hold = (request.bodyHold = budget.hold());
    collect(payload, { hold, bytesMax: request.routeOptions.bodyLimit }, take);
  };
}

function collect(
  payload: Readable,
  { hold, bytesMax }: { hold: BodyHold; bytesMax: number },
  take: TakeBody,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const finish = (error: Error | null): void => {
    payload.off('data', onData).off('end', onEnd).off('error', finish);
    take(error, error ? nothing : Buffer.concat(chunks, bytes));
    chunks.length = 0;
  };
  const onEnd = (): void => finish(null);
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > bytesMax) finish(tooLarge());
    else if (hold.add(chunk.length)) chunks.push(chunk);
    else finish(noRoom());
  };
  payload.on('data', onData).on('end', onEnd).on('error', finish);
}

/** The body of an answered call is not needed any more, also when its caller has gone meanwhile. */
export function releaseBodies(route: RouteOptions): void {
  route.onSend = [releaseBody, ...[route.onSend ?? []].flat()];
}

const releaseBody: onSendHookHandler = (request, _reply, payload, done) => {
  request.bodyHold?.release();
  done(null, payload);
};

/** Bytes that the body is said to have; undefined when it comes in chunks. Node checks the number. */
export function declaredBytes({ headers }: Pick<FastifyRequest, 'headers'>): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  if (length !== undefined) return Number(length);
  return encoding === undefined ? 0 : undefined;
}

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

declare module 'fastify' {
  interface FastifyRequest {
    /** What the body holds of the budget, from the moment it is read. */
    bodyHold: BodyHold | undefined;
  }
}
