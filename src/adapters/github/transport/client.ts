import { Octokit } from '@octokit/rest';
import type { z } from 'zod';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import { type Clock, SECOND, untilAborted } from '#shared/clock.ts';
import { createSemaphore } from '#shared/resilience/turns.ts';
import {
  createTokenSource,
  type CredentialKind,
  credentialKindOf,
  noOctokitLog,
  type TrackerCredential,
} from './auth.ts';
import {
  failureOf,
  fetchBounded,
  graphqlSaysLimited,
  type Headers,
  isTrackerFailure,
  parseResponse,
  readRejection,
  readText,
  type Rejection,
  saysLimited,
  TrackerFailure,
  type TrackerFailureKind,
  transportFailure,
} from './response.ts';
import { createRateLimits } from './rate-limits.ts';

/** @see https://docs.github.com/en/rest/about-the-rest-api/api-versions */
export const API_VERSION = '2022-11-28';

/** End of our version of the API, as responses tell; milliseconds since the Unix epoch. */
export type VersionEnd = { deprecatedAt?: number; sunsetAt?: number };

/** One request as it went over the wire; for metrics. Holds no address and no data. */
export type TrackerExchange = {
  /** With its placeholders: `GET /repos/{owner}/{repo}/issues`. */
  route: string;
  /** Absent when there was no response. */
  status?: number;
  failure?: TrackerFailureKind;
  /** True when it counts against the primary limit: every response but 304 does. */
  isBilled: boolean;
  durationMs: number;
  /** The tracker's clock when it responded, in ms since the Unix epoch; absent when it told no time. */
  dateMs?: number;
  /** Absent as long as the tracker announces no end. */
  versionEnd?: VersionEnd;
};

/** Address of the tracker's API, and how it is called. */
type TrackerApi = {
  /** Without a trailing slash, for example `https://api.github.com`. */
  apiUrl: string;
  clock: Clock;
  /** Goes in front of Octokit's own `User-Agent`. */
  userAgent: string;
  onExchange?: (exchange: TrackerExchange) => void;
};

/** GitHub allows 100 at once for all programs that share a credential. */
const REQUESTS_AT_ONCE_MAX = 30;
const RETRIED_STATUSES = new Set([502, 503, 504]);
/** Nothing else is ever gone: there a 410 speaks of the API's version, and of an issue it may. */
const IS_ABOUT_ISSUES = /\/issues(\/|$)/;

export type TrackerConnection = TrackerApi & {
  credential: TrackerCredential;
  /** Deadline of one request, a retry and a new installation token included. */
  requestTimeoutMs: number;
  /** Once it is aborted every request, also one in flight, fails as `timeout`. */
  cut?: AbortSignal;
};

export type TrackerRequestOptions<T> = {
  /** Shape of a success. Unknown keys are dropped by zod objects. */
  schema: z.ZodType<T>;
  /** Statuses from 300 up that the caller can make use of; others throw. */
  accept?: readonly number[];
  /** Entity tag of a response to the same request; 304 is accepted then. */
  validator?: string;
};

export type TrackerResponse<T> =
  | { kind: 'success'; status: number; headers: Headers; data: T }
  | { kind: 'other'; status: number; headers: Headers };

/**
 * The one way to the tracker. It owns the deadline, the API version, the rate limits, the check of
 * every response's shape and one retry of a GET; it never follows a redirect, never repeats a write
 * that may have been done, and never lets Octokit's errors out.
 */
export type TrackerClient = {
  /**
   * `route` is Octokit's, with `{placeholders}` that `parameters` fill; the rest of `parameters`
   * is the query of a GET, else the JSON body.
   * @throws {TrackerFailure} for every failure of the tracker
   */
  request<T>(
    route: string,
    parameters: Readonly<Record<string, unknown>>,
    options: TrackerRequestOptions<T>,
  ): Promise<TrackerResponse<T>>;
  credentialKind: CredentialKind;
  /** The primary limit of REST; undefined until the first response. */
  quota: () => TrackerQuota | undefined;
};

/** @throws {TypeError} when the private key of an App is unusable */
export function createTrackerClient(connection: TrackerConnection): TrackerClient {
  const { clock, cut, requestTimeoutMs } = connection;
  const exchanges = createExchanges(connection);
  const tokens = createTokenSource(connection, connection.credential);
  const semaphore = createSemaphore(REQUESTS_AT_ONCE_MAX);

  const sendWithRetry = async (
    request: ExchangeRequest,
    token: string,
  ): Promise<ExchangeResponse> => {
    const isRead = request.route.startsWith('GET ');
    try {
      const response = await exchanges.exchange(request, token);
      return isRead && isTransient(response) ? await exchanges.exchange(request, token) : response;
    } catch (error) {
      if (isRead && isTrackerFailure(error, 'network')) return exchanges.exchange(request, token);
      throw error;
    }
  };

  /** A 401 means that nothing was done, so that a write may be sent again as well. */
  const sendAuthorized = async (request: ExchangeRequest): Promise<ExchangeResponse> => {
    const token = await untilAborted(tokens.current(), request.signal);
    const response = await sendWithRetry(request, token);
    if (response.status !== 401) return response;
    const renewed = await untilAborted(tokens.renewed(token), request.signal);
    return renewed === undefined ? response : sendWithRetry(request, renewed);
  };

  const sendWithinDeadline = async (
    request: Omit<ExchangeRequest, 'signal'>,
  ): Promise<ExchangeResponse> => {
    const deadline = AbortSignal.timeout(requestTimeoutMs);
    const signal = cut ? AbortSignal.any([deadline, cut]) : deadline;
    try {
      const release = await semaphore.acquire(signal);
      return await sendAuthorized({ ...request, signal }).finally(release);
    } catch (error) {
      throw error === signal.reason ? new TrackerFailure('timeout') : error;
    }
  };

  return {
    request: async (route, parameters, { schema, accept = [], validator }) => {
      const response = await sendWithinDeadline({ route, parameters, validator });
      const { status, headers } = response;
      if (status >= 200 && status < 300)
        return {
          kind: 'success',
          status,
          headers,
          data: parseResponse(response.text, schema, status),
        };
      if (status === 410 && !IS_ABOUT_ISSUES.test(route))
        throw new TrackerFailure('version-retired', { status });
      const isExpected = accept.includes(status) || (status === 304 && validator !== undefined);
      if (!isExpected) throw failureOf(response, clock.now(), Object.keys(parameters));
      return { kind: 'other', status, headers };
    },
    credentialKind: credentialKindOf(connection.credential),
    quota: exchanges.quota,
  };
}

/** A fault that is often gone at once, unless the tracker names the time to come back. */
function isTransient({ status, headers }: ExchangeResponse): boolean {
  return RETRIED_STATUSES.has(status) && headers['retry-after'] === undefined;
}

type ExchangeRequest = {
  /** Octokit's, with `{placeholders}` that `parameters` fill. */
  route: string;
  parameters: Readonly<Record<string, unknown>>;
  validator?: string;
  signal: AbortSignal;
};

/** `text` is there for a success. */
type ExchangeResponse = Rejection & { text: string };

/** Single exchanges with the tracker, within its rate limits. */
type Exchanges = {
  /**
   * The response, of any status but those of a rate limit.
   * @throws {TrackerFailure} `limited` (also without calling), `timeout`, `network`, `nonsense`
   */
  exchange(request: ExchangeRequest, token: string): Promise<ExchangeResponse>;
  quota: () => TrackerQuota | undefined;
};

/** Octokit without plugins that wait: it builds requests, `exchange` decides what responses mean. */
function createExchanges({ apiUrl, clock, userAgent, onExchange }: TrackerApi): Exchanges {
  const octokit = new Octokit({ baseUrl: apiUrl, userAgent, log: noOctokitLog });
  const limits = createRateLimits(clock);

  const exchange: Exchanges['exchange'] = async (request, token) => {
    const { route } = request;
    const resource = isGraphql(request) ? 'graphql' : 'core';
    limits.assertAllowed(resource);
    const startedAt = clock.monotonicMs();
    const observe = (observed: Omit<TrackerExchange, 'route' | 'durationMs'>): void =>
      onExchange?.({ route, durationMs: clock.monotonicMs() - startedAt, ...observed });

    const response = await send(octokit, request, token).catch((error: unknown) => {
      const failure = isTrackerFailure(error) ? error : transportFailure(error);
      observe({ failure: failure.kind, isBilled: false });
      throw failure;
    });
    const { status, headers } = response;
    observe({ status, isBilled: status !== 304, ...dateOf(headers), ...versionEndOf(headers) });
    const says = isGraphql(request) ? graphqlSaysLimited(response.text) : saysLimited(response);
    if (limits.note({ ...response, resource, saysLimited: says })) limits.assertAllowed(resource);
    return response;
  };

  return { exchange, quota: limits.quota };
}

/** A response with `Age` was made by a cache, some time ago. @see RFC 9110 section 6.6.1 */
function dateOf({ date, age }: Headers): { dateMs?: number } {
  const dateMs = age === undefined ? Date.parse(date?.toString() ?? '') : NaN;
  return Number.isNaN(dateMs) ? {} : { dateMs };
}

/** `Deprecation` is an HTTP date, or `@` and seconds (RFC 9745); `Sunset` is an HTTP date (RFC 8594). */
function versionEndOf({ deprecation, sunset }: Headers): { versionEnd?: VersionEnd } {
  const seconds = /^@(\d{1,11})$/.exec(deprecation?.toString() ?? '')?.[1];
  const deprecatedAt = seconds ? Number(seconds) * SECOND : instantOf(deprecation);
  const sunsetAt = instantOf(sunset);
  if (deprecatedAt === undefined && sunsetAt === undefined) return {};
  return { versionEnd: { deprecatedAt, sunsetAt } };
}

function instantOf(header: Headers[string]): number | undefined {
  const ms = Date.parse(header?.toString() ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function isGraphql({ route }: ExchangeRequest): boolean {
  return route.endsWith(' /graphql');
}

/**
 * Octokit would hide a body that breaks off or never ends, so a success is read here; of any other it gets a part. Redirects are
 * responses: followed, a write could reach another repository, and the token another host.
 * @throws whatever Octokit and Node throw when there is no response
 */
async function send(
  octokit: Octokit,
  request: ExchangeRequest,
  token: string,
): Promise<ExchangeResponse> {
  const { route, parameters, validator, signal } = request;
  try {
    const { status, headers, data } = await octokit.request(route, {
      ...parameters,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `token ${token}`,
        'x-github-api-version': API_VERSION,
        ...(validator !== undefined && { 'if-none-match': validator }),
      },
      request: {
        signal,
        redirect: 'manual',
        parseSuccessResponseBody: false,
        fetch: fetchBounded,
        log: noOctokitLog,
      },
    });
    return { status, headers, text: await readText(data), data: undefined };
  } catch (error) {
    const rejection = readRejection(error);
    if (!rejection) throw error;
    return { ...rejection, text: '' };
  }
}
