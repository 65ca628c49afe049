import { type ErrorCode, systemCodeOf, TrackportError } from '#shared/errors.ts';
import { URI_BYTES_MAX } from '../limits.ts';
import { errorFields, framesOf } from '#shared/log.ts';
import type { Exchange } from '../context.ts';

type Meaning = { code: ErrorCode; detail: string };

/** Fastify's and Node's own errors as problems; bodies are read and parsed by ours. @see https://fastify.dev/docs/latest/Reference/Errors/ */
const meanings: Readonly<Record<string, Meaning>> = {
  FST_ERR_BAD_URL: {
    code: 'bad-request',
    detail: 'The path is not well-formed: check its percent-encoding.',
  },
  FST_ERR_MAX_PARAM_LENGTH: {
    code: 'uri-too-long',
    detail: 'A part of the path is too long.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported-media-type',
    detail: 'Send the body as `Content-Type: application/json`.',
  },
  ECONNRESET: {
    code: 'bad-request',
    detail: 'The connection was closed before the whole body had come.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request-timeout',
    detail: 'The request took too long to arrive.',
  },
  HPE_HEADER_OVERFLOW: {
    code: 'headers-too-large',
    detail: 'The headers of the request are too large.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'payload-too-large',
    detail: 'The chunk extensions of the body are too large.',
  },
};

/**
 * Any error as the one kind that becomes a response. What is unknown is a mistake of ours: it becomes
 * `internal-error` and holds the reason as its cause.
 */
export function toTrackportError(error: unknown): TrackportError {
  if (error instanceof TrackportError) return error;
  const detail = 'The mistake is on our side. Quote the request id when you report it.';
  return knownError(error) ?? new TrackportError('internal-error', { detail, cause: error });
}

/** Turns what Node's HTTP parser refuses before there is a request into one of ours. */
export function fromParserError(error: unknown): TrackportError {
  const detail = 'The request is not well-formed HTTP/1.1.';
  return knownError(error) ?? new TrackportError('bad-request', { detail, cause: error });
}

function knownError(error: unknown): TrackportError | undefined {
  const meaning = meanings[systemCodeOf(error) ?? ''];
  return meaning && new TrackportError(meaning.code, { detail: meaning.detail, cause: error });
}

/** The 414 of a request target that is longer than `URI_BYTES_MAX`. */
export function uriTooLong(): TrackportError {
  return new TrackportError('uri-too-long', {
    detail: `The address of the request is longer than ${URI_BYTES_MAX} bytes.`,
  });
}

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
