import { z } from 'zod';

import type { Clock } from '#shared/clock.ts';
import type { TrackerClient } from './transport/client.ts';
import { TrackerFailure } from './transport/failure.ts';
import { continuationOf } from './transport/response.ts';
import type { Headers } from './transport/rate-limits.ts';
import { type Repository, type RepositoryInfo, scopesOf } from './repository.ts';

/** State of the repository, for `doctor`. */
export type RepositoryInspection = {
  facts: RepositoryInfo;
  /** The labels asked for, in their order. */
  labels: readonly { name: string; exists: boolean }[];
  /** Of a classic token; other credentials have none. */
  scopes?: readonly string[];
  /** End of the token, as the tracker writes it; absent for tokens without an end. */
  tokenExpires?: string;
  /** Milliseconds by which the tracker's clock is ahead of ours; precise to a second. */
  clockAheadMs?: number;
};

/**
 * Asks the tracker about the repository and the labels named.
 * @throws {TrackerFailure} its `kind` says what is wrong: `unauthorized`, `repository-missing`, …
 */
export async function inspectRepository(
  { client, repository, clock }: { client: TrackerClient; repository: Repository; clock: Clock },
  labelNames: readonly string[],
): Promise<RepositoryInspection> {
  const { facts, headers } = await repository.read();
  const clockAheadMs = clockAheadOf(headers, clock.now());
  const labels: { name: string; exists: boolean }[] = [];
  for (const name of labelNames)
    labels.push({ name, exists: await labelExists(client, repository, name) });
  return {
    facts,
    labels,
    scopes: scopesOf(headers),
    tokenExpires: headers['github-authentication-token-expiration']?.toString(),
    ...clockAheadMs,
  };
}

async function labelExists(
  client: TrackerClient,
  { name: repository }: Repository,
  name: string,
): Promise<boolean> {
  const response = await client.request(
    'GET /repos/{owner}/{repo}/labels/{name}',
    { ...repository, name },
    { schema: z.object({ name: z.string() }), accept: [404] },
  );
  return response.kind === 'success';
}

/**
 * True when issues can be assigned to whoever has this login.
 * @see https://docs.github.com/en/rest/issues/assignees#check-if-a-user-can-be-assigned
 * @throws {TrackerFailure}
 */
export async function isAssignable(
  { client, repository }: { client: TrackerClient; repository: Repository },
  login: string,
): Promise<boolean> {
  const response = await client.request(
    'GET /repos/{owner}/{repo}/assignees/{assignee}',
    { ...repository.name, assignee: login },
    { schema: z.undefined(), accept: [404] },
  );
  return response.kind === 'success';
}

/**
 * Looks at how a list goes on; two issues are enough to tell.
 * @throws {TrackerFailure} `numbered-pages` without cursors, and why issues cannot be read
 */
export async function assertCursors({
  client,
  repository,
}: {
  client: TrackerClient;
  repository: Repository;
}): Promise<void> {
  const { headers, status } = await client.request(
    'GET /repos/{owner}/{repo}/issues',
    { ...repository.name, state: 'all', per_page: 1 },
    { schema: z.array(z.unknown()) },
  );
  if (continuationOf(headers['link']).kind === 'unusable')
    throw new TrackerFailure('numbered-pages', { status });
}

/**
 * Creates a label. `exists` when there was one of that name in any case; `refused` when the tracker
 * does not take the name, colour or description.
 * @throws {TrackerFailure} `forbidden` or `missing` without write access
 */
export async function createLabel(
  { client, repository }: { client: TrackerClient; repository: Repository },
  label: { name: string; color?: string; description?: string },
): Promise<'created' | 'exists' | 'refused'> {
  const response = await client.request(
    'POST /repos/{owner}/{repo}/labels',
    { ...repository.name, ...label },
    { schema: z.object({ name: z.string() }), accept: [422] },
  );
  if (response.kind === 'success') return 'created';
  return (await labelExists(client, repository, label.name)) ? 'exists' : 'refused';
}

function clockAheadOf(headers: Headers, now: number): { clockAheadMs?: number } {
  const date = Date.parse(headers['date']?.toString() ?? '');
  return Number.isNaN(date) ? {} : { clockAheadMs: date - now };
}
