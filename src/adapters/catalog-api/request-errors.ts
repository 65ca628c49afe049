import { TargetFailure } from '#catalog/import/import-target.ts';
import {
  causesOf,
  errorCodes,
  type FieldProblem,
  systemCodeOf,
  TrackportError,
} from '#shared/errors.ts';

import { type Problem, type ProblemField, problemOf, type ServerResponse } from './response.ts';
import { isWorthRetrying } from './retries.ts';

/** No response came. Codes of the connection name what is wrong; messages can hold anything. */
export function toUnreachable(server: string, error: unknown): TargetFailure {
  const codes = [...causesOf(error)].map(systemCodeOf).filter((code) => code !== undefined);
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const reason = isLate ? 'it did not respond in time' : (codes.at(-1) ?? 'the connection failed');
  return new TargetFailure(`${server} cannot be reached: ${reason}.`, { cause: error });
}

/** What a response that is no success means: the end of the import, or of one file. */
export function toError(server: string, response: ServerResponse): Error {
  const { status, headers } = response;
  const found = problemOf(response);
  if (status >= 300 && status < 400) {
    const to = URL.parse(headers.get('location') ?? '', server)?.origin ?? 'another address';
    return new TargetFailure(`${server} redirects to ${to}: name that address in --server.`);
  }
  if (isWorthRetrying(response))
    return new TargetFailure(
      `${server} is not available (${status}). ${found?.detail ?? ''}`.trim(),
    );
  return found ? toRefusal(server, status, found) : notTrackport(server, status);
}

function toRefusal(server: string, status: number, problem: Problem): Error {
  const { detail = problem.code, errors } = problem;
  if (status === 401)
    return new TargetFailure(
      `${server} refuses the token: ${detail} It has to be a current one of the issuer and the audience that the server is configured with.`,
    );
  if (status === 403) return new TargetFailure(`${server} refuses: ${detail}`);
  const code = errorCodes.find((known) => known === problem.code);
  // Artifacts have a code of their own: no such path is another server, or an older one.
  if (code === undefined || code === 'not-found' || code === 'method-not-allowed')
    return notTrackport(server, status);
  return new TrackportError(code, { detail, ...(errors && { errors: errors.map(toField) }) });
}

function notTrackport(server: string, status: number): TargetFailure {
  return new TargetFailure(
    `${server} responded ${status} and not as Trackport does. Look whether --server names it, without /api.`,
  );
}

function toField({ pointer, parameter, code, detail }: ProblemField): FieldProblem {
  return {
    ...(pointer !== undefined && { pointer }),
    ...(parameter !== undefined && { parameter }),
    code,
    detail,
  };
}
