import { Octokit } from '@octokit/rest';

import type { TrackerQuota } from '#leads/lead-tracker.ts';
import { type Clock, SECOND } from '#shared/clock.ts';

import {
  fetchBounded,
  graphqlSaysLimited,
  readRejection,
  readText,
  type Rejection,
  saysLimited,
  transportFailure,
} from './response.ts';
import { noOctokitLog } from './auth.ts';
import { isTrackerFailure, type TrackerFailureKind } from './failure.ts';
import { createRateLimits, type Headers } from './rate-limits.ts';

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
export type TrackerApi = {
  /** Without a trailing slash, for example `https://api.github.com`. */
  apiUrl: string;
  clock: Clock;
  /** Goes in front of Octokit's own `User-Agent`. */
  userAgent?: string;
  onExchange?: (exchange: TrackerExchange) => void;
};

export type WireRequest = {
  /** Octokit's, with `{placeholders}` that `parameters` fill. */
  route: string;
  parameters: Readonly<Record<string, unknown>>;
  validator?: string;
  signal: AbortSignal;
};

/** `text` is there for a success. */
export type WireResponse = Rejection & { text: string };

/** Single exchanges with the tracker, within its rate limits. */
export type Wire = {
  /**
   * The response, of any status but those of a rate limit.
   * @throws {TrackerFailure} `limited` (also without calling), `timeout`, `network`, `nonsense`
   */
  exchange(request: WireRequest, token: string): Promise<WireResponse>;
  quota(): TrackerQuota | undefined;
};

/** Octokit without plugins that wait: it builds requests, `exchange` decides what responses mean. */
export function createWire({
  apiUrl,
  clock,
  userAgent = 'trackport',
  onExchange,
}: TrackerApi): Wire {
  const octokit = new Octokit({ baseUrl: apiUrl, userAgent, log: noOctokitLog });
  const limits = createRateLimits(clock);

  const exchange: Wire['exchange'] = async (request, token) => {
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

  return { exchange, quota: () => limits.quota() };
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

function isGraphql({ route }: WireRequest): boolean {
  return route.endsWith(' /graphql');
}

/**
 * Octokit would hide a body that breaks off or never ends, so a success is read here; of any other it gets a part. Redirects are
 * responses: followed, a write could reach another repository, and the token another host.
 * @throws whatever Octokit and Node throw when there is no response
 */
async function send(octokit: Octokit, request: WireRequest, token: string): Promise<WireResponse> {
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
