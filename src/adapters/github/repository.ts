import { z } from 'zod';

import { type Clock, SECOND } from '#shared/clock.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';

import type { TrackerClient } from './transport/client.ts';
import { TrackerFailure, toTrackportError } from './transport/failure.ts';
import type { Headers } from './transport/rate-limits.ts';

/** How long one response about the repository speaks for reads that find no issue. */
const WELL_FOR_MS = 2 * SECOND;

/** Redirects and absences: only the repository can tell what they mean. */
export const NOT_HERE = [301, 302, 307, 308, 404, 410];

/** `acme/leads`, taken apart. */
export type RepositoryName = { owner: string; repo: string };

/** @throws {TypeError} when `text` is not `owner/name` */
export function parseRepositoryName(text: string): RepositoryName {
  const [, owner, repo] = /^([^/\s]+)\/([^/\s]+)$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined)
    throw new TypeError('A repository is written as owner/name.');
  return { owner, repo };
}

/** What the tracker says about the repository. */
export type RepositoryFacts = {
  /** Stays the same when the repository is renamed or moved. */
  id: number;
  hasIssues: boolean;
  isPrivate: boolean;
  isArchived: boolean;
  /** Whether the credential is an administrator's here. */
  isAdmin: boolean;
  /** Whether its permissions suffice to change issues; undefined when the tracker tells none. */
  mayWrite: boolean | undefined;
};

const repositorySchema = z
  .object({
    id: z.int(),
    full_name: z.string(),
    has_issues: z.boolean(),
    private: z.boolean().nullish(),
    archived: z.boolean().nullish(),
    permissions: z.record(z.string(), z.boolean()).nullish(),
  })
  .transform((wire): RepositoryFacts => {
    const may = (name: string): boolean => wire.permissions?.[name] === true;
    return {
      id: wire.id,
      hasIssues: wire.has_issues,
      isPrivate: wire.private === true,
      isArchived: wire.archived === true,
      isAdmin: may('admin'),
      mayWrite: wire.permissions
        ? ['admin', 'maintain', 'push', 'triage'].some((name) => may(name))
        : undefined,
    };
  });

/** The configured repository itself, as opposed to its issues. */
export type Repository = {
  name: RepositoryName;
  /**
   * Asks the tracker. @throws {TrackerFailure} `repository-missing` for 404, 410 and redirects (a
   * renamed repository is another one until the configuration says so)
   */
  read(): Promise<{ facts: RepositoryFacts; headers: Headers }>;
  /**
   * Resolves when the repository is found under its name and has issues: only then is an issue that
   * is not found really absent. Calls at the same time share one request.
   * @throws {TrackerFailure} `repository-missing`, `issues-disabled`, or why it is not known
   */
  assertWell(): Promise<void>;
  /** Asks for the numeric id. @throws {tracker-unavailable} @throws {tracker-failed} */
  identify(): Promise<number>;
  /** Numeric id, once a response named it. */
  id(): number | undefined;
};

export type RepositoryDeps = { client: TrackerClient; clock: Clock; name: RepositoryName };

export function createRepository({ client, clock, name }: RepositoryDeps): Repository {
  let id: number | undefined;
  let wellAt: number | undefined;

  const read: Repository['read'] = async () => {
    const options = { schema: repositorySchema, accept: NOT_HERE };
    const response = await client.request('GET /repos/{owner}/{repo}', name, options);
    if (response.kind === 'other')
      throw new TrackerFailure('repository-missing', { status: response.status });
    id = response.data.id;
    return { facts: response.data, headers: response.headers };
  };

  const probe = createSingleFlight(async () => {
    const { facts } = await read();
    if (!facts.hasIssues) throw new TrackerFailure('issues-disabled');
    wellAt = clock.monotonicMs();
  });

  return {
    name,
    read,
    assertWell: () => {
      if (wellAt !== undefined && clock.monotonicMs() - wellAt < WELL_FOR_MS)
        return Promise.resolve();
      return probe();
    },
    identify: async () => {
      const { facts } = await read().catch((error: unknown) =>
        Promise.reject(toTrackportError(error)),
      );
      return facts.id;
    },
    id: () => id,
  };
}
