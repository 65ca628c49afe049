import type { Actor } from '#shared/audit.ts';
import { type Clock, toRfc3339 } from '#shared/clock.ts';
import type { Database, Statements } from '#shared/database.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import type { KeyedCall, StoredResponse } from '#shared/idempotency.ts';
import type { Lifecycle, Member, VersionRecord, VersionRef } from './artifact.ts';
import type { Words } from './content-check.ts';
import { entityTagOf, type Tagged } from './entity-tag.ts';
import type { ArtifactSummaryOut } from './version-out.ts';
import { readCandidates, readRelations, readVersion, type Relations } from './read-version.ts';
import type { SearchVersions } from '../reading/search.ts';
import type { SpecJobs } from '../spec/spec-jobs.ts';
import type { RenderSpecYaml } from '../spec/spec-yaml.ts';
import type { ReadRecord } from '../usage/record-reads.ts';

/** The catalog, as its use cases work on it. The rules are those in force. */
export type Catalog = {
  db: Database;
  /** Full text as the engine of the store reads it. */
  search: SearchVersions;
  clock: Pick<Clock, 'now'>;
  cursors: CursorSealer;
  checkSpec: SpecJobs['checkSpec'];
  diffSpecs: SpecJobs['diffSpecs'];
  renderSpecYaml: RenderSpecYaml;
  /** Counts reads of versions. */
  usage: ReadRecord;
  words: Words;
  /** Workspaces whose published artifacts anybody may find. */
  publicWorkspaces: readonly string[];
  /** Findings stop a version from being published, or are told alone. */
  findings: 'block' | 'warn';
  /** Breaking changes stop it, or are told alone; `off`: nobody looks for them. */
  compatibility: 'off' | 'warn' | 'block';
};

/** On whose behalf. The workspace comes from the credential, never from a request's parameters. */
export type Caller = {
  workspaceId: string;
  actor: Actor;
  requestId?: string;
  /** Aborted when nobody waits for the answer any more. */
  signal?: AbortSignal;
  /** The call's idempotency key. The response for it is written in the transaction of the change. */
  call?: KeyedCall;
};

/** On whose behalf something is read: a workspace is a part of every query. */
export type Reader = Pick<Caller, 'workspaceId' | 'signal'> & {
  /** The reader by whom costly work is counted. */
  subject?: string;
};

/** One version with all that its response says. */
export type VersionView = {
  record: VersionRecord;
  specText?: string;
  members?: Member[];
  /** The owner's, and the computed ones: `versions`, `members`, `members.<TYPE>`. */
  counts: Record<string, number>;
  /** The PUBLISHED default version that takes the place of this one. */
  successor?: string;
  /** The version is the default because it was set as such. */
  isSetDefault: boolean;
};

type VersionQuery = VersionRef & { withSpec: boolean };

/**
 * Reads one version.
 * @throws {artifact-not-found} also for a version that does not exist
 * @throws {no-published-version} without `version`, when there is no default one
 */
export async function readRecord(
  tx: Statements,
  { workspaceId }: Reader,
  query: VersionQuery,
): Promise<{ record: VersionRecord; specText: string | undefined }> {
  const found = await readVersion(tx, workspaceId, query);
  if (found.kind === 'found') return { record: found.record, specText: found.specText };
  return found.kind === 'no-default'
    ? refuseWithoutDefault(found.listed)
    : refuseUnknown(found.kind);
}

/** Reads one version with its relations. Throws as `readRecord` does. */
export async function readView(
  tx: Statements,
  reader: Reader,
  query: VersionQuery,
): Promise<VersionView> {
  const found = await readRecord(tx, reader, query);
  return viewOf({ ...found, relations: await readRelations(tx, found.record) });
}

/**
 * Returns the version that is meant where the request names none: the only one of the artifact in a state.
 * @throws {validation-failed} when there is none or more than one
 */
export async function onlyVersionIn(
  tx: Statements,
  { serial }: { serial: number },
  lifecycle: Lifecycle,
): Promise<string> {
  const candidates = await readCandidates(tx, serial);
  const [only, ...others] = candidates.filter((candidate) => candidate.lifecycle === lifecycle);
  if (only && others.length === 0) return only.version;
  return refuse([
    {
      parameter: 'version',
      code: 'required',
      detail: `Name the version: ${only ? 'more than one' : 'none'} of them is ${lifecycle}.`,
    },
  ]);
}

/** One version with what its response says of others, all of one moment. */
export type StoredVersion = {
  record: VersionRecord;
  specText: string | undefined;
  relations: Relations;
};

/** A version with all that its response says, from what is stored of it. */
export function viewOf({ record, specText, relations }: StoredVersion): VersionView {
  const { versions, members, membersByType, successor, isSetDefault } = relations;
  const byType = Object.entries(membersByType);
  return {
    record,
    specText,
    counts: {
      ...record.counts,
      versions,
      members: byType.reduce((total, [, count]) => total + count, 0),
      ...Object.fromEntries(byType.map(([type, count]) => [`members.${type}`, count])),
    },
    members,
    successor,
    isSetDefault,
  };
}

/** The parts of a version that its entity tag is made from. */
export function taggedOf({ record, counts, members }: VersionView): Tagged {
  const { serial, revision } = record;
  return { serial, revision, counts, members };
}

const UNKNOWN = {
  'no-artifact': 'There is no artifact with this id in your workspace.',
  'no-version': 'The artifact is there, but has no such version. See its `/versions`.',
} as const;

/** Another workspace's artifact is `no-artifact`, too. @throws {artifact-not-found} always */
export function refuseUnknown(kind: keyof typeof UNKNOWN): never {
  throw new TrackportError('artifact-not-found', { detail: UNKNOWN[kind] });
}

/** @throws {no-published-version} always */
function refuseWithoutDefault({ lifecycle }: VersionRecord): never {
  throw new TrackportError('no-published-version', {
    detail: 'No version of the artifact is PUBLISHED or DEPRECATED. Name one with `version`.',
    extensions: { current: lifecycle },
  });
}

/** Headers about caching, of every response of the catalog. */
export const revalidated = {
  'cache-control': 'private, no-cache',
  vary: 'Authorization, X-API-KEY',
} as const;

/** A response with one version; `isCreated` adds its status and `Location`. */
export function versionResponse(view: VersionView, { isCreated = false } = {}): StoredResponse {
  return {
    status: isCreated ? 201 : 200,
    headers: {
      ...versionHeaders(view),
      'content-type': 'application/json; charset=utf-8',
      ...(isCreated && { location: addressOf(view.record) }),
    },
    body: renderVersion(view),
  };
}

/** The headers of a response with one version, a 304 too. */
export function versionHeaders(view: VersionView): Record<string, string> {
  return {
    ...revalidated,
    etag: entityTagOf(taggedOf(view)),
    'content-location': addressOf(view.record),
    ...deprecationHeaders(view),
  };
}

/** Path of exactly this version. */
export function addressOf({ id, version }: { id: string; version: string }): string {
  return `/api/v1/catalog/${encodeURIComponent(id)}?version=${encodeURIComponent(version)}`;
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and what takes the version's place (RFC 5829). */
export function deprecationHeaders({ record, successor }: VersionView): Record<string, string> {
  const { deprecatedAt, sunsetAt, id } = record;
  if (deprecatedAt === undefined) return {};
  const links = [
    ...(successor === undefined
      ? []
      : [`<${addressOf({ id, version: successor })}>; rel="successor-version"`]),
    `</api/v1/catalog/${encodeURIComponent(id)}/versions>; rel="version-history"`,
  ];
  return {
    deprecation: `@${Math.floor(deprecatedAt / 1000)}`,
    ...(sunsetAt !== undefined && { sunset: new Date(sunsetAt).toUTCString() }),
    link: links.join(', '),
  };
}

/** The spec goes out as the text that is stored: it is never parsed to be read. */
export function renderVersion({ record, specText, members, counts }: VersionView): string {
  const text = JSON.stringify({
    ...toArtifactSummaryOut(record),
    members,
    counts,
    ...(record.findings.length > 0 && { findings: record.findings }),
  });
  return specText === undefined ? text : `${text.slice(0, -1)},"spec":${specText}}`;
}

/** A row of a list. */
export function toArtifactSummaryOut(record: VersionRecord): ArtifactSummaryOut {
  const { id, version, type, owner, title, description, lifecycle, source } = record;
  const { workspaceId, projectId, groupPath, publishedAt, sunsetAt } = record;
  return {
    id,
    version,
    type,
    owner,
    title,
    description,
    lifecycle,
    source,
    createdAt: toRfc3339(record.createdAt),
    updatedAt: toRfc3339(record.updatedAt),
    ...(publishedAt !== undefined && { publishedAt: toRfc3339(publishedAt) }),
    ...(sunsetAt !== undefined && { sunsetAt: toRfc3339(sunsetAt) }),
    workspaceId,
    projectId,
    groupPath,
  };
}
