/** Requests to a Trackport server that come through, or say why not in words for people. */
import { z } from 'zod';
import { type Clock, SECOND } from '#shared/clock.ts';
import {
  causesOf,
  errorCodes,
  type FieldProblem,
  isTrackportError,
  systemCodeOf,
  TrackportError,
} from '#shared/errors.ts';
import { doublingSchedule, jitteredWaitMsAfter, type Random } from '#shared/resilience/backoff.ts';
import { TargetFailure } from '#catalog/import/import-target.ts';
import { readBytes } from '#shared/bytes.ts';
import { isRecord } from '#shared/text/json.ts';

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
    const facts = { response, now: deps.clock.now(), random: deps.random };
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
      body,
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

/** No response came. Codes of the connection name what is wrong; messages can hold anything. */
function toUnreachable(server: string, error: unknown): TargetFailure {
  const codes = [...causesOf(error)].map(systemCodeOf).filter((code) => code !== undefined);
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const reason = isLate ? 'it did not respond in time' : (codes.at(-1) ?? 'the connection failed');
  return new TargetFailure(`${server} cannot be reached: ${reason}.`, { cause: error });
}

/** What a response that is no success means: the end of the import, or of one file. */
function toError(server: string, response: ServerResponse): Error {
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
  return new TrackportError(code, { detail, errors: errors?.map(toField) });
}

function notTrackport(server: string, status: number): TargetFailure {
  return new TargetFailure(
    `${server} responded ${status} and not as Trackport does. Look whether --server names it, without /api.`,
  );
}

function toField({ pointer, parameter, code, detail }: ProblemField): FieldProblem {
  return { pointer, parameter, code, detail };
}

/** About a quarter of a minute in all: longer than a server takes to start again. */
const WAITS = doublingSchedule(0.5 * SECOND, 8 * SECOND);
/** Whoever asks for a longer wait is asked again by the next run. */
const WAIT_MS_MAX = 120 * SECOND;

/** What makes sense to be sent again as it is: no connection, too much work, or a proxy without its server. */
function isWorthRetrying(response: ServerResponse | undefined): boolean {
  if (response === undefined) return true;
  if ([408, 429, 502, 503, 504].includes(response.status)) return true;
  return response.status === 409 && problemOf(response)?.code === 'idempotency-in-progress';
}

/**
 * Milliseconds until the next try after `failures` in a row, not before the server's `Retry-After`.
 * Undefined when there is no further one.
 */
function waitMsBeforeRetry(
  failures: number,
  { response, now, random }: { response?: ServerResponse; now: number; random: Random },
): number | undefined {
  const waitMs = jitteredWaitMsAfter(WAITS, failures, random);
  if (waitMs === undefined) return undefined;
  const wanted = Math.max(waitMs, retryAfterMs(response, now));
  return wanted > WAIT_MS_MAX ? undefined : wanted;
}

/** `Retry-After` is whole seconds or a date (RFC 9110 §10.2.3); 0 for anything else. */
function retryAfterMs(response: ServerResponse | undefined, now: number): number {
  const value = response?.headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * SECOND;
  const at = /^[A-Z][a-z]{2}, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** More than a version with the largest spec can have. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

/** A response that was received whole. */
export type ServerResponse = { status: number; headers: Headers; bytes: Buffer };

const text = z.string();

const field = z.object({
  pointer: text.optional(),
  parameter: text.optional(),
  code: text,
  detail: text,
});

/** Of a problem document (RFC 9457) what is used: a later server may say more. */
const problem = z.object({
  code: text,
  detail: text.optional(),
  errors: z.array(field).optional(),
});

/** One wrong part of a request, as a server says it. */
type ProblemField = z.infer<typeof field>;

/** What a problem document says. */
type Problem = z.infer<typeof problem>;

/** Reads a response to its end. Throws `TypeError` when it is too long, and what the connection throws. */
async function readResponse(response: Response): Promise<ServerResponse> {
  const { status, headers, body } = response;
  const tooLong = (): Error => new TypeError('the response is too long');
  return { status, headers, bytes: await readBytes(body, RESPONSE_BYTES_MAX, tooLong) };
}

/** Every success of Trackport is JSON; a page for people comes from something else at its address. */
function isSuccess({ status, headers }: ServerResponse): boolean {
  return status < 300 && /^application\/json\b/i.test(headers.get('content-type') ?? '');
}

/** The problem that a response is; undefined when it is none. */
function problemOf({ headers, bytes }: ServerResponse): Problem | undefined {
  if (!/^application\/problem\+json\b/i.test(headers.get('content-type') ?? '')) return undefined;
  return problem.safeParse(parse(bytes)).data;
}

/** The JSON object that a response is; undefined when it is none. */
export function jsonOf({ bytes }: ServerResponse): Record<string, unknown> | undefined {
  const value = parse(bytes);
  return isRecord(value) ? value : undefined;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
