import type { TrackportError } from '#shared/errors.ts';
import { routedPath } from '../requests/routed-path.ts';
import { type ProblemContext, type RenderedProblem, renderProblem } from './problem.ts';

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
