import type { Finding } from '#catalog/spec/finding.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { Candidate } from '#catalog/version/order/default-version.ts';
import { searchTextOf } from '#catalog/reading/search-terms.ts';
import { toVersionColumns } from '#catalog/version/version-columns.ts';
import { present } from '#shared/store/row.ts';
import type { RowOf } from '#shared/store/row.ts';
import type { Session } from '../connection/database.ts';

/** A row of `catalog_version` with its artifact's id. */
export type VersionRow = RowOf<Omit<VersionRecord, JsonColumn>> &
  Record<JsonColumn, string | null> & { artifactSerial: number };

/** Stored as JSON. */
type JsonColumn = 'members' | 'counts' | 'findings';

/** The columns of `VersionRow`, of `catalog_version v` and `catalog_artifact a`. */
export const VERSION_COLUMNS = `
  v.serial, v.artifact_serial, v.workspace_id, a.id, v.version, v.revision, v.lifecycle, v.type,
  v.source, v.owner, v.title, v.project_id, v.group_path, v.created_at, v.updated_at,
  v.published_at, v.deprecated_at, v.sunset_at, v.members, v.counts, v.findings, v.description`;

export function toRecord({
  artifactSerial: _artifactSerial,
  members,
  counts,
  findings,
  ...row
}: VersionRow): VersionRecord {
  return {
    ...(present(row) as Omit<VersionRecord, JsonColumn>),
    findings: findings === null ? [] : (JSON.parse(findings) as Finding[]),
    ...(members !== null && { members: JSON.parse(members) as string[] }),
    ...(counts !== null && { counts: JSON.parse(counts) as Record<string, number> }),
  };
}

/** The values of a version for the parameters of a statement that writes one. */
export function toColumns(record: Omit<VersionRecord, 'serial'>) {
  return {
    ...toVersionColumns(record),
    terms: searchTextOf(record).split(' '),
  };
}

const CANDIDATES = `
  SELECT serial, version, type, lifecycle, published_at, created_at FROM catalog_version
  WHERE artifact_serial = @artifact`;

/** Every version of an artifact, as far as the choice among them needs it; in no order. */
export async function readCandidates(session: Session, artifact: number): Promise<Candidate[]> {
  const rows = await session.all<RowOf<Candidate>>(CANDIDATES, { artifact });
  return rows.map((row) => present(row) as Candidate);
}
