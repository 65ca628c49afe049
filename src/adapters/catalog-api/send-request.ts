/** Requests to a Trackport server that come through, or say why not in words for people. */
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Random } from '#shared/resilience/backoff.ts';

import { toError, toUnreachable } from './request-errors.ts';
import { isSuccess, readResponse, type ServerResponse } from './response.ts';
import { isWorthRetrying, waitMsBeforeRetry } from './retries.ts';

/** A server's longest work on one version, its waiting line included, ends before. */
const REQUEST_TIMEOUT_MS = 90_000;

/** Where bearer tokens come from. */
export type TokenSource = {
  /** One that should be good now. @throws {TargetFailure} */
  token(): Promise<string>;
  /** Forgets the last one, which the server refused; absent where there is no other. */
  renew?: () => void;
};

export type ServerDeps = {
  /** The root of the server, without a slash at its end. */
  server: string;
  tokens: TokenSource;
  clock: Pick<Clock, 'now' | 'sleep'>;
  random: Random;
};

export type ServerRequest = {
  method: 'GET' | 'POST' | 'PUT';
  /** From the root on, query included. */
  target: string;
  headers?: Record<string, string>;
  /** A JSON text. */
  body?: string;
};

/**
 * Sends a request and returns a response below 300; again, as it is, while that makes sense. So what is no
 * `GET` carries an `Idempotency-Key` or an `If-Match`.
 * @throws {TargetFailure} when nothing further would succeed either, and the server's own codes
 */
export async function sendRequest(
  deps: ServerDeps,
  request: ServerRequest,
): Promise<ServerResponse> {
  let isRenewed = false;
  for (let failures = 0; ;) {
    const { response, error } = await attempt(deps, request);
    if (response && isSuccess(response)) return response;
    if (response?.status === 401 && deps.tokens.renew && !isRenewed) {
      isRenewed = true;
      deps.tokens.renew();
      continue;
    }
    failures += 1;
    const facts = { ...(response && { response }), now: deps.clock.now(), random: deps.random };
    const waitMs = isWorthRetrying(response) ? waitMsBeforeRetry(failures, facts) : undefined;
    if (waitMs === undefined)
      throw response ? toError(deps.server, response) : toUnreachable(deps.server, error);
    await deps.clock.sleep(waitMs);
  }
}

type Attempt = { response?: ServerResponse; error?: unknown };

async function attempt({ server, tokens }: ServerDeps, request: ServerRequest): Promise<Attempt> {
  const { method, target, headers, body } = request;
  const token = await tokens.token();
  try {
    const response = await fetch(`${server}${target}`, {
      method,
      // The token goes to no other place than the one that was named.
      redirect: 'manual',
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...(body !== undefined && { body }),
    });
    return { response: await readResponse(response) };
  } catch (error) {
    return { error };
  }
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
