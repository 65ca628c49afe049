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
type FailedRequest = { target: string | undefined; accept?: string };

/** How failures before routing are shown, where people may read them. */
export type ProblemPages = {
  add(page: ProblemPage): void;
  /** The problem document, or a page of the same status for who did not ask for JSON. */
  render(context: ProblemContext, request: FailedRequest, error: TrackportError): RenderedProblem;
};

export function createProblemPages(): ProblemPages {
  const pages: ProblemPage[] = [];
  const find = (failure: EarlyFailure) => {
    for (const page of pages) {
      const found = page(failure);
      if (found) return found;
    }
    return undefined;
  };
  return {
    add: (page) => void pages.push(page),
    render: (context, { target, accept = '' }, error) => {
      const problem = renderProblem(context, error);
      if (target === undefined || /\bjson\b/i.test(accept)) return problem;
      const { requestId } = context;
      const page = find({ path: routedPath(target), requestId, error });
      if (!page) return problem;
      const headers = { ...problem.headers, ...page.headers };
      return { status: problem.status, headers, body: Buffer.from(page.document) };
    },
  };
}
