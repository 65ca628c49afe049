import type { ErrorCode, TrackportError } from '#shared/errors.ts';
import { rateLimitHeaders } from '../responses/headers.ts';
import { routedPath } from '../requests/paths.ts';

type ProblemKind = {
  status: number;
  /** Stable per code (RFC 9457 §3.1.3). */
  title: string;
};

/** Every code with its status and title: the only place where a code becomes a status. */
export const problemKinds: Readonly<Record<ErrorCode, ProblemKind>> = {
  'validation-failed': { status: 400, title: 'The request is not valid' },
  'malformed-json': { status: 400, title: 'The body is not acceptable JSON' },
  'invalid-cursor': { status: 400, title: 'The cursor cannot be used' },
  'bad-request': { status: 400, title: 'The request is not well-formed HTTP' },
  unauthorized: { status: 401, title: 'No valid credential' },
  'insufficient-scope': { status: 403, title: 'The credential does not allow this' },
  'lead-not-found': { status: 404, title: 'No such lead' },
  'artifact-not-found': { status: 404, title: 'No such artifact' },
  'no-published-version': { status: 404, title: 'The artifact has no published version' },
  'not-found': { status: 404, title: 'Nothing is here' },
  'method-not-allowed': { status: 405, title: 'The path does not know this method' },
  'request-timeout': { status: 408, title: 'The request came too slowly' },
  'version-exists': { status: 409, title: 'The version exists already' },
  'version-in-use': { status: 409, title: 'Readers rely on the version' },
  'invalid-lifecycle-transition': { status: 409, title: 'The lifecycle does not allow this step' },
  'not-a-draft': { status: 409, title: 'Only a draft can be changed' },
  'idempotency-in-progress': { status: 409, title: 'The same request is still being worked on' },
  'cursor-expired': { status: 410, title: 'The cursor is not good any more' },
  'precondition-failed': { status: 412, title: 'It has changed in the meantime' },
  'payload-too-large': { status: 413, title: 'The body is too large' },
  'uri-too-long': { status: 414, title: 'The address is too long' },
  'unsupported-media-type': { status: 415, title: 'The media type is not supported' },
  'spec-invalid': { status: 422, title: 'The spec is not valid' },
  'breaking-change': { status: 422, title: 'The version breaks an earlier one' },
  'diff-too-costly': { status: 422, title: 'The two versions are too costly to compare' },
  'idempotency-mismatch': { status: 422, title: 'The idempotency key belongs to another request' },
  'precondition-required': { status: 428, title: 'The request must be conditional' },
  'quota-exceeded': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  'internal-error': { status: 500, title: 'Trackport made a mistake' },
  'tracker-failed': { status: 502, title: 'The issue tracker gave an unusable answer' },
  'tracker-unavailable': { status: 503, title: 'The issue tracker is not available' },
  'identity-provider-unavailable': {
    status: 503,
    title: 'The identity provider is not available',
  },
  'store-unavailable': { status: 503, title: 'The store is not available' },
  overloaded: { status: 503, title: 'Too busy, or stopping' },
};

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
  const { status, title } = problemKinds[error.code];
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

/** What is known of a request that failed before any route was found for it. */
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
