import type { Finding } from '#catalog/spec/finding.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { Candidate } from '#catalog/version/order/default-version.ts';
import type { RowOf } from '#shared/store/row.ts';
import type { Connection } from '../connection/connection.ts';

/** A row of `catalog_version` with its artifact's id. */
export type VersionRow = RowOf<Omit<VersionRecord, JsonColumn>> &
  Record<JsonColumn, string | null> & { artifactSerial: number; orderKey: string };

/** Stored as JSON. */
type JsonColumn = 'members' | 'counts' | 'findings';

/** The columns of `VersionRow`, of `catalog_version v` and `catalog_artifact a`. */
export const VERSION_COLUMNS = `
  v.serial, v.artifactSerial, v.workspaceId, a.id, v.version, v.orderKey, v.revision, v.lifecycle,
  v.type, v.source, v.owner, v.title, v.projectId, v.groupPath, v.createdAt, v.updatedAt,
  v.publishedAt, v.deprecatedAt, v.sunsetAt, v.members, v.counts, v.findings, v.description`;

export function toRecord(row: VersionRow): VersionRecord {
  return {
    workspaceId: row.workspaceId,
    id: row.id,
    version: row.version,
    lifecycle: row.lifecycle,
    type: row.type,
    owner: row.owner,
    title: row.title,
    source: row.source,
    findings: parseOr<Finding[]>(row.findings, []),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    serial: row.serial,
    revision: row.revision,
    ...present('description', row.description),
    ...present('projectId', row.projectId),
    ...present('groupPath', row.groupPath),
    ...present('publishedAt', row.publishedAt),
    ...present('deprecatedAt', row.deprecatedAt),
    ...present('sunsetAt', row.sunsetAt),
    ...present('members', parseOr<string[] | null>(row.members, null)),
    ...present('counts', parseOr<Record<string, number> | null>(row.counts, null)),
  };
}

/** Every version of an artifact, as far as the choice among them needs it; in no order. */
export function createCandidatesReader({
  handle,
}: Connection): (artifactSerial: number) => Candidate[] {
  const candidates = handle.prepare<[number], RowOf<Candidate>>(
    'SELECT serial, version, type, lifecycle, publishedAt, createdAt FROM catalog_version WHERE artifactSerial = ?',
  );
  return (artifactSerial) =>
    candidates
      .all(artifactSerial)
      .map(({ publishedAt, ...row }) => ({ ...row, ...(publishedAt !== null && { publishedAt }) }));
}

function parseOr<T>(text: string | null, fallback: T): T {
  return text === null ? fallback : (JSON.parse(text) as T);
}

function present<K extends string, T>(key: K, value: T | null): { [name in K]?: T } {
  return value === null ? {} : ({ [key]: value } as { [name in K]?: T });
}
