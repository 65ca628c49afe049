import { type ErrorCode, systemCodeOf, TrackportError } from '#shared/errors.ts';
import { URI_BYTES_MAX } from '../limits.ts';

type Meaning = { code: ErrorCode; detail: string };

/** What Fastify's and Node's own errors mean to a client; bodies are read and parsed by ours. @see https://fastify.dev/docs/latest/Reference/Errors/ */
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

/** The same for what Node's HTTP parser refuses before there is a request. */
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
