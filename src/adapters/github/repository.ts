import { z } from 'zod';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import type { PauseCode } from '#partners/worker/act/issue-editor.ts';
import { foldLabel } from '#shared/text/labels.ts';
import type { TrackerClient } from './transport/client.ts';
import type { CredentialKind } from './transport/auth.ts';
import {
  type Headers,
  isTrackerFailure,
  toTrackportError,
  TrackerFailure,
} from './transport/response.ts';

/** One response about the repository speaks for so long for reads that find no issue. */
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

/** The tracker's word on the repository. */
export type RepositoryInfo = {
  /** Stays the same when the repository is renamed or moved. */
  id: number;
  hasIssues: boolean;
  isPrivate: boolean;
  isArchived: boolean;
  /** The credential is an administrator's here. */
  isAdmin: boolean;
  /** Its permissions suffice to change issues; undefined when the tracker tells none. */
  mayWrite: boolean | undefined;
  /** Its permissions suffice for typed fields, for which more is asked. */
  mayPush: boolean | undefined;
  /** Nobody but collaborators can open an issue. */
  isForCollaborators: boolean;
};

const repositorySchema = z
  .object({
    id: z.int(),
    full_name: z.string(),
    has_issues: z.boolean(),
    private: z.boolean().nullish(),
    archived: z.boolean().nullish(),
    issue_creation_policy: z.string().nullish().catch(undefined),
    permissions: z.record(z.string(), z.boolean()).nullish(),
  })
  .transform((wire): RepositoryInfo => {
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
      mayPush: wire.permissions
        ? ['admin', 'maintain', 'push'].some((name) => may(name))
        : undefined,
      isForCollaborators: wire.issue_creation_policy?.toLowerCase() === 'collaborators_only',
    };
  });

/** The configured repository itself, as opposed to its issues. */
export type Repository = {
  name: RepositoryName;
  /**
   * Asks the tracker. @throws {TrackerFailure} `repository-missing` for 404 and redirects (a
   * renamed repository is another one until the configuration says so)
   */
  read(): Promise<{ facts: RepositoryInfo; headers: Headers }>;
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

export function createRepository(
  client: TrackerClient,
  name: RepositoryName,
  clock: Clock,
): Repository {
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

/**
 * Returns why issues of the repository cannot be changed, as the tracker tells; undefined when
 * nothing speaks against it. Needed because a write that a token's scopes do not cover gets a
 * 404, and one for which its user lacks the right may get a 200 and be dropped in part.
 * @see https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
 */
export function reasonNotToWrite(
  { credentialKind }: { credentialKind: CredentialKind },
  { hasIssues, isArchived, isPrivate, mayWrite }: RepositoryInfo,
  headers: Headers,
): PauseCode | undefined {
  if (!hasIssues) return 'issues-disabled';
  if (isArchived) return 'forbidden';
  if (credentialKind === 'app') return undefined;
  const scopes = credentialKind === 'classic' ? scopesOf(headers) : undefined;
  const isOutOfScope = scopes !== undefined && !coversWriting(scopes, isPrivate);
  return isOutOfScope || mayWrite === false ? 'forbidden' : undefined;
}

/** Of a classic token; other credentials have none. */
export function scopesOf(headers: Headers): readonly string[] | undefined {
  const scopes = headers['x-oauth-scopes']?.toString();
  return scopes
    ?.split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

/** True when a classic token with these scopes may change issues, if its user may. */
export function coversWriting(scopes: readonly string[], isPrivate: boolean): boolean {
  return scopes.includes('repo') || (!isPrivate && scopes.includes('public_repo'));
}

const LABELS_PER_PAGE = 100;
/** A repository with more labels shows the first thousand, by name. */
const LABEL_PAGES_MAX = 10;

const labelNames = z.array(z.object({ name: z.string() }));

/**
 * The names of the repository's labels, at most 1,000.
 * @see https://docs.github.com/en/rest/issues/labels#list-labels-for-a-repository
 * @throws {TrackerFailure} for every failure of the tracker
 */
export async function readLabels({
  client,
  repository,
}: {
  client: TrackerClient;
  repository: Repository;
}): Promise<string[]> {
  const names: string[] = [];
  for (let page = 1; page <= LABEL_PAGES_MAX; page += 1) {
    const response = await client.request(
      'GET /repos/{owner}/{repo}/labels',
      { ...repository.name, per_page: LABELS_PER_PAGE, page },
      { schema: labelNames },
    );
    const labels = response.kind === 'success' ? response.data : [];
    names.push(...labels.map(({ name }) => name));
    if (labels.length < LABELS_PER_PAGE) break;
  }
  return names;
}

/** A typed field, as the organization defines it. */
export type FieldDefinition = {
  id: number;
  name: string;
  /** `text`, `number`, `date`, `single_select`, `multi_select`, or what may come. */
  kind: string;
  /** Names; none where it is no field to choose in. */
  options: readonly string[];
};

const fieldsSchema = z.array(
  z
    .object({
      id: z.int(),
      name: z.string(),
      data_type: z.string(),
      options: z.array(z.object({ name: z.string() })).nullish(),
    })
    .transform(({ id, name, data_type: kind, options }): FieldDefinition => {
      return { id, name, kind, options: (options ?? []).map((option) => option.name) };
    }),
);

/**
 * The typed fields of the repository's owner; undefined where it is no organization, or the credential may not see
 * them: an App and a fine-grained token need the organization's permission `Issue Fields`, a classic token `read:org`.
 * @see https://docs.github.com/en/rest/orgs/issue-fields
 * @throws {TrackerFailure}
 */
export async function readFields({
  client,
  repository,
}: {
  client: TrackerClient;
  repository: Repository;
}): Promise<readonly FieldDefinition[] | undefined> {
  const response = await client
    .request(
      'GET /orgs/{org}/issue-fields',
      { org: repository.name.owner },
      { schema: fieldsSchema, accept: NOT_HERE.filter((status) => status !== 410) },
    )
    .catch((error: unknown) => {
      if (isTrackerFailure(error, 'forbidden')) return undefined;
      throw error;
    });
  return response?.kind === 'success' ? response.data : undefined;
}

const KNOWN_FOR_MS = MINUTE;

/** The number of a field by its name; asks the tracker at most once a minute. @throws {TrackerFailure} */
export function createFieldNumbers(client: TrackerClient, repository: Repository, clock: Clock) {
  let known: { numbers: ReadonlyMap<string, number>; at: number } | undefined;
  return async (name: string): Promise<number | undefined> => {
    if (known === undefined || clock.monotonicMs() - known.at > KNOWN_FOR_MS) {
      const fields = (await readFields({ client, repository })) ?? [];
      const numbers = new Map(fields.map((field) => [foldLabel(field.name), field.id]));
      known = { numbers, at: clock.monotonicMs() };
    }
    return known.numbers.get(foldLabel(name));
  };
}

/**
 * The address of an issue for people. Of GitHub it is known from that of the API: `api.github.com`,
 * `api.NAME.ghe.com`, `HOST/api/v3`; anything else is taken for one origin with both.
 */
export function issueAddressOf(apiUrl: string, repository: string): (number: string) => string {
  const { protocol, host } = new URL(apiUrl);
  const web = /^api\.(github\.com|[^.]+\.ghe\.com)$/i.exec(host)?.[1] ?? host;
  return (number) => `${protocol}//${web}/${repository}/issues/${encodeURIComponent(number)}`;
}
