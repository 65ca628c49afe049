/** Calls to a Trackport server that come through, or say why not in words for people. */
import { errorCodes } from '#shared/outcomes/problems.ts';
import { type ProblemError, unwrap } from '@trackport/client';
import { TargetFailure, type TokenSource } from '#catalog/import/import-target.ts';
import { causesOf, isTrackportError, systemCodeOf, TrackportError } from '#shared/errors.ts';

/** An answer of the client. */
export type Result<Data> = { data?: Data; error?: unknown; response: Response };

/**
 * Makes calls of the client, each of which is tried again while that makes sense, and once more with another token
 * after a 401. They throw a `TargetFailure` when nothing further would succeed either, and the server's own codes.
 */
export function createCaller(server: string, tokens: TokenSource) {
  return async <Data>(call: () => Promise<Result<Data>>): Promise<Result<Data>> => {
    let result = await reach(server, call);
    if (result.response.status === 401 && tokens.renew) {
      tokens.renew();
      result = await reach(server, call);
    }
    try {
      unwrap(result);
    } catch (error) {
      throw toFailure(server, error as ProblemError, result.response);
    }
    const type = result.response.headers.get('content-type') ?? '';
    if (!/^application\/json\b/i.test(type)) throw notTrackport(server, result.response.status);
    return result;
  };
}

/** Undefined where the artifact or the version is not there. */
export async function foundOrNone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isTrackportError(error, 'artifact-not-found')) return undefined;
    throw error;
  }
}

async function reach<T>(server: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof TargetFailure) throw error;
    throw error instanceof SyntaxError ? notTrackport(server, 200) : toUnreachable(server, error);
  }
}

/** No response came. Codes of the connection name what is wrong; messages can hold anything. */
function toUnreachable(server: string, error: unknown): TargetFailure {
  const codes = [...causesOf(error)].map(systemCodeOf).filter((code) => code !== undefined);
  const isLate = (error as Error).name === 'TimeoutError';
  const reason = isLate ? 'it did not respond in time' : (codes.at(-1) ?? 'the connection failed');
  return new TargetFailure(`${server} cannot be reached: ${reason}.`, { cause: error });
}

/** Meaning of a response that is no success: the end of the import, or of one file. */
function toFailure(server: string, problem: ProblemError, { headers }: Response): Error {
  const { status, code, detail = '' } = problem;
  if (status >= 300 && status < 400) {
    const to = URL.parse(headers.get('location') ?? '', server)?.origin ?? 'another address';
    return new TargetFailure(`${server} redirects to ${to}: name that address in --server.`);
  }
  if ([408, 429, 502, 503, 504].includes(status) || code === 'idempotency-in-progress')
    return new TargetFailure(`${server} is not available (${status}). ${detail}`.trim());
  return code === undefined ? notTrackport(server, status) : toRefusal(server, problem);
}

function toRefusal(server: string, problem: ProblemError): Error {
  const { status, code = '', errors } = problem;
  const { detail = code } = problem;
  if (status === 401)
    return new TargetFailure(
      `${server} refuses the token: ${detail} It has to be a current one of the issuer and the audience that the server is configured with.`,
    );
  if (status === 403) return new TargetFailure(`${server} refuses: ${detail}`);
  const known = errorCodes.find((one) => one === code);
  // Artifacts have a code of their own: no such path is another server, or an older one.
  if (known === undefined || known === 'not-found' || known === 'method-not-allowed')
    return notTrackport(server, status);
  return new TrackportError(known, { detail, errors });
}

function notTrackport(server: string, status: number): TargetFailure {
  return new TargetFailure(
    `${server} responded ${status} and not as Trackport does. Look whether --server names it, without /api.`,
  );
}
