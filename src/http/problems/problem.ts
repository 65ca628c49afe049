import type { TrackportError } from '#shared/errors.ts';
import { problems } from '#shared/outcomes/problems.ts';
import { rateLimitHeaders } from '../responses/headers.ts';
import { routedPath } from '../requests/paths.ts';

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
