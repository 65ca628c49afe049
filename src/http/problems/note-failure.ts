import type { TrackportError } from '#shared/errors.ts';
import { errorFields, framesOf } from '#shared/log.ts';
import type { Exchange } from '../http-app.ts';

/** Of the stack of a bug, in its log line. */
const FRAMES_MAX = 10;

/** Leaves what the log line of a failed request needs, before its response is sent. */
export function noteFailure({ request, reply }: Exchange, failure: TrackportError): void {
  request.logFacts = { ...request.logFacts, code: failure.code, ...reasonOf(failure) };
  if (isSendingStill({ request, reply })) reply.header('connection', 'keep-alive');
}

/**
 * Fastify would close under a sender in the middle of its body, which then never sees the response:
 * Node reads past the rest, for no longer than a request may take.
 */
function isSendingStill({ request, reply }: Exchange): boolean {
  const { raw } = reply;
  const willClose = reply.getHeader('connection') === 'close' && !raw.hasHeader('connection');
  return willClose && !request.raw.complete && raw.shouldKeepAlive;
}

/** Why a request failed on our side: classes and codes, and for a bug the place in our code. */
function reasonOf(failure: TrackportError): Record<string, string> {
  if (failure.cause === undefined) return {};
  const { error } = errorFields(failure.cause);
  return {
    error: String(error),
    ...(failure.code === 'internal-error' && { stack: placesOf(failure.cause) }),
  };
}

function placesOf(cause: unknown): string {
  return framesOf(cause)
    .slice(0, FRAMES_MAX)
    .map((frame) => frame.trim())
    .join(' | ');
}
