import type { Finding } from '#catalog/spec/finding.ts';
import { foldId, type VersionRecord } from '#catalog/version/artifact.ts';
import type { Candidate } from '#catalog/version/version-order.ts';
import type { Tx } from '#shared/database.ts';

/** A row of `catalog_version` with its artifact's id. */
export type VersionRow = Omit<VersionRecord, JsonColumn> &
  Partial<Record<JsonColumn, string>> & { artifactSerial: number };

type Counts = VersionRecord['counts'];

/** Stored as JSON. */
type JsonColumn = 'members' | 'counts' | 'findings';

/** The columns of `VersionRow`, of `catalog_version v` and `catalog_artifact a`. */
export const VERSION_COLUMNS = `
  v.serial, v.artifact_serial, v.workspace_id, a.id, v.version, v.revision, v.lifecycle, v.type,
  v.source, v.owner, v.title, v.project_id, v.group_path, v.created_at, v.updated_at,
  v.published_at, v.deprecated_at, v.sunset_at, v.members, v.counts, v.findings, v.description`;

/** Versions with their artifacts. */
export const VERSIONS = 'catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial';

/** Field by field: of a row that is spread, a read takes a third longer. */
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
    findings: JSON.parse(row.findings ?? '[]') as Finding[],
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    serial: row.serial,
    revision: row.revision,
    description: row.description,
    projectId: row.projectId,
    groupPath: row.groupPath,
    publishedAt: row.publishedAt,
    deprecatedAt: row.deprecatedAt,
    sunsetAt: row.sunsetAt,
    members: row.members === undefined ? undefined : (JSON.parse(row.members) as string[]),
    counts: row.counts === undefined ? undefined : (JSON.parse(row.counts) as Counts),
  };
}

/** Of `catalog_artifact a`. */
export const OF_ARTIFACT =
  'a.workspace_id = /*sqlite +*/@workspaceId AND a.id_folded = /*sqlite +*/@idFolded';

const CANDIDATES = `
  SELECT serial, version, type, lifecycle, published_at, created_at FROM catalog_version
  WHERE artifact_serial = @artifact`;

/** Every version of an artifact, as far as the choice among them needs it; in no order. */
export function readCandidates(session: Tx, artifact: number): Promise<Candidate[]> {
  return session.all<Candidate>(CANDIDATES, { artifact });
}

/** What an artifact is called in the audit log. An id has no slash, so that it is unambiguous. */
export function auditSubject(workspaceId: string, id: string): string {
  return `artifact/${workspaceId}/${foldId(id)}`;
}
