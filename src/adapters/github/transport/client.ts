import type { z } from 'zod';

import type { TrackerQuota } from '#leads/lead-tracker.ts';
import { createSemaphore } from '#shared/resilience/semaphore.ts';
import { untilAborted } from '#shared/clock.ts';

import { failureOf, parseResponse } from './response.ts';
import {
  createTokenSource,
  type CredentialKind,
  credentialKindOf,
  type TrackerCredential,
} from './auth.ts';
import { TrackerFailure, isTrackerFailure } from './failure.ts';
import type { Headers } from './rate-limits.ts';
import { createWire, type TrackerApi, type WireRequest, type WireResponse } from './wire.ts';

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
  quota(): TrackerQuota | undefined;
};

/** @throws {TypeError} when the private key of an App is unusable */
export function createTrackerClient(connection: TrackerConnection): TrackerClient {
  const { clock, cut, requestTimeoutMs } = connection;
  const wire = createWire(connection);
  const tokens = createTokenSource(connection, connection.credential);
  const semaphore = createSemaphore(REQUESTS_AT_ONCE_MAX);

  const sendWithRetry = async (request: WireRequest, token: string): Promise<WireResponse> => {
    const isRead = request.route.startsWith('GET ');
    try {
      const response = await wire.exchange(request, token);
      return isRead && isTransient(response) ? await wire.exchange(request, token) : response;
    } catch (error) {
      if (isRead && isTrackerFailure(error, 'network')) return wire.exchange(request, token);
      throw error;
    }
  };

  /** A 401 means that nothing was done, so that a write may be sent again as well. */
  const sendAuthorized = async (request: WireRequest): Promise<WireResponse> => {
    const token = await untilAborted(tokens.current(), request.signal);
    const response = await sendWithRetry(request, token);
    if (response.status !== 401) return response;
    const renewed = await untilAborted(tokens.renewed(token), request.signal);
    return renewed === undefined ? response : sendWithRetry(request, renewed);
  };

  const sendWithinDeadline = async (
    request: Omit<WireRequest, 'signal'>,
  ): Promise<WireResponse> => {
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
      if (!isExpected) throw failureOf(response, clock.now());
      return { kind: 'other', status, headers };
    },
    credentialKind: credentialKindOf(connection.credential),
    quota: () => wire.quota(),
  };
}

/** A fault that is often gone at once, unless the tracker names the time to come back. */
function isTransient({ status, headers }: WireResponse): boolean {
  return RETRIED_STATUSES.has(status) && headers['retry-after'] === undefined;
}
