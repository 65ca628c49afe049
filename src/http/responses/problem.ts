/** Failures: any error as one of ours, its problem document (RFC 9457), and what the log says of it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, systemCodeOf, TrackportError } from '#shared/errors.ts';
import { problems } from '#shared/outcomes/problems.ts';
import { errorFields, framesOf } from '#shared/log.ts';
import { rateLimitHeaders } from './headers.ts';
import { routedPath } from '../requests/paths.ts';
import { URI_BYTES_MAX } from '../limits.ts';

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

/** A 503 always says when to come back, even when its cause named no time. */
const RETRY_AFTER_SECONDS_DEFAULT = 5;

/** Of every problem document (RFC 9457 §3). */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** An error, ready to be written to any connection. Header names are lower-case. */
export type RenderedProblem = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
};

/** `publicUrl` has no slash at its end; `requestId` is a UUID. */
type ProblemContext = { publicUrl: string; requestId: string };

/** The problem document of an error (RFC 9457) with the headers that belong to it. */
export function renderProblem(context: ProblemContext, error: TrackportError): RenderedProblem {
  const { status, title } = problems[error.code];
  const document = {
    ...error.extensions,
    type: `${context.publicUrl}/problems/${error.code}`,
    title,
    status,
    detail: error.detail,
    instance: `urn:uuid:${context.requestId}`,
    code: error.code,
    ...(error.errors && error.errors.length > 0 && { errors: error.errors }),
  };
  const body = Buffer.from(JSON.stringify(document));
  return { status, headers: headersOf(status, error), body };
}

function headersOf(status: number, error: TrackportError): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': PROBLEM_MEDIA_TYPE,
    'cache-control': 'no-store',
  };
  if (error.challenge !== undefined) headers['www-authenticate'] = error.challenge;
  if (error.limit !== undefined) Object.assign(headers, rateLimitHeaders(error.limit));
  const seconds =
    error.retryAfterSeconds ?? (status === 503 ? RETRY_AFTER_SECONDS_DEFAULT : undefined);
  if (seconds !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(seconds)));
  return headers;
}

/** A request that failed before any route was found for it. */
type EarlyFailure = { path: string; requestId: string; error: TrackportError };

/** A page in place of the problem document; undefined for paths that are none of its own. */
export type ProblemPage = (
  failure: EarlyFailure,
) => { headers: Readonly<Record<string, string>>; document: string } | undefined;

/** The target as it came, and what the client takes, where it said so. */
type FailedRequest = { target: string | undefined; accept?: string; error: TrackportError };

/** The problem document, or the page of one of `pages` with the same status for who did not ask for JSON. */
export function renderEarlyProblem(
  pages: Iterable<ProblemPage>,
  context: ProblemContext,
  { target, accept = '', error }: FailedRequest,
): RenderedProblem {
  const problem = renderProblem(context, error);
  if (target === undefined || /\bjson\b/i.test(accept)) return problem;
  const failure = { path: routedPath(target), requestId: context.requestId, error };
  for (const render of pages) {
    const page = render(failure);
    if (!page) continue;
    const headers = { ...problem.headers, ...page.headers };
    return { status: problem.status, headers, body: Buffer.from(page.document) };
  }
  return problem;
}

/** Of the stack of a bug, in its log line. */
const FRAMES_MAX = 10;

type Sent = { request: FastifyRequest; reply: FastifyReply };

/** Leaves what the log line of a failed request needs, before its response is sent. */
export function noteFailure({ request, reply }: Sent, failure: TrackportError): void {
  request.logFacts = { ...request.logFacts, code: failure.code, ...reasonOf(failure) };
  if (isSendingStill({ request, reply })) reply.header('connection', 'keep-alive');
}

/**
 * Fastify would close under a sender in the middle of its body, which then never sees the response:
 * Node reads past the rest, for no longer than a request may take.
 */
function isSendingStill({ request, reply }: Sent): boolean {
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
