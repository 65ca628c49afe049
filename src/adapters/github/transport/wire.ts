import { Octokit } from '@octokit/rest';

import type { TrackerQuota } from '#leads/lead-tracker.ts';
import type { Clock } from '#shared/clock.ts';

import {
  graphqlSaysLimited,
  readRejection,
  readText,
  saysLimited,
  transportFailure,
  type Rejection,
} from './response.ts';
import { noOctokitLog } from './auth.ts';
import { isTrackerFailure, type TrackerFailureKind } from './failure.ts';
import { createRateLimits } from './rate-limits.ts';

/** @see https://docs.github.com/en/rest/about-the-rest-api/api-versions */
const API_VERSION = '2022-11-28';

/** One call as it went over the wire; for metrics. Holds no address and no data. */
export type TrackerCall = {
  /** With its placeholders: `GET /repos/{owner}/{repo}/issues`. */
  route: string;
  /** Absent when there was no answer. */
  status?: number;
  failure?: TrackerFailureKind;
  /** True when the answer counts against the primary limit: every answer but 304. */
  billed: boolean;
  durationMs: number;
};

export type WireDeps = {
  /** Without a trailing slash, for example `https://api.github.com`. */
  apiUrl: string;
  clock: Clock;
  /** Goes in front of Octokit's own `User-Agent`. */
  userAgent?: string;
  onCall?: (call: TrackerCall) => void;
};

export type WireCall = {
  /** Octokit's, with `{placeholders}` that `parameters` fill. */
  route: string;
  parameters: Readonly<Record<string, unknown>>;
  validator?: string | undefined;
  signal: AbortSignal;
};

/** What came back; `text` is there for a success. */
export type WireAnswer = Rejection & { text: string };

/** Single exchanges with the tracker, within its rate limits. */
export type Wire = {
  /**
   * Answers with any status but those of a rate limit.
   * @throws {TrackerFailure} `limited` (also without calling), `timeout`, `network`, `nonsense`
   */
  exchange(call: WireCall, token: string): Promise<WireAnswer>;
  quota(): TrackerQuota | undefined;
};

/** Octokit without plugins that wait: it builds requests, `exchange` decides what answers mean. */
export function createWire({ apiUrl, clock, userAgent = 'trackport', onCall }: WireDeps): Wire {
  const octokit = new Octokit({ baseUrl: apiUrl, userAgent, log: noOctokitLog });
  const limits = createRateLimits(clock);

  const exchange: Wire['exchange'] = async (call, token) => {
    const { route } = call;
    const resource = isGraphql(call) ? 'graphql' : 'core';
    limits.assertAllowed(resource);
    const startedAt = clock.monotonicMs();
    const observe = (facts: Pick<TrackerCall, 'status' | 'failure' | 'billed'>): void =>
      onCall?.({ route, durationMs: clock.monotonicMs() - startedAt, ...facts });

    const answer = await send(octokit, call, token).catch((error: unknown) => {
      const failure = isTrackerFailure(error) ? error : transportFailure(error);
      observe({ failure: failure.kind, billed: false });
      throw failure;
    });
    observe({ status: answer.status, billed: answer.status !== 304 });
    const says = isGraphql(call) ? graphqlSaysLimited(answer.text) : saysLimited(answer);
    if (limits.note({ ...answer, resource, saysLimited: says })) limits.assertAllowed(resource);
    return answer;
  };

  return { exchange, quota: () => limits.quota() };
}

function isGraphql({ route }: WireCall): boolean {
  return route.endsWith(' /graphql');
}

/**
 * Octokit would hide a body that breaks off or never ends, so a success is read here. Redirects are
 * answers: followed, a write could reach another repository, and the token another host.
 * @throws whatever Octokit and fetch throw when there is no answer
 */
async function send(octokit: Octokit, call: WireCall, token: string): Promise<WireAnswer> {
  const { route, parameters, validator, signal } = call;
  try {
    const { status, headers, data } = await octokit.request(route, {
      ...parameters,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `token ${token}`,
        'x-github-api-version': API_VERSION,
        ...(validator === undefined ? {} : { 'if-none-match': validator }),
      },
      request: { signal, redirect: 'manual', parseSuccessResponseBody: false },
    });
    return { status, headers, text: await readText(data), data: undefined };
  } catch (error) {
    const rejection = readRejection(error);
    if (!rejection) throw error;
    return { ...rejection, text: '' };
  }
}
