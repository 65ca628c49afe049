/** Reads a version, and what its response says of others. What belongs to another workspace does not exist. */
import type { Statements } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import type { Finding } from '../spec/finding.ts';
import {
  foldId,
  type Member,
  MEMBERS_MAX,
  type VersionRecord,
  type VersionRef,
} from './artifact.ts';
import { type Candidate, isReadable } from './version-order.ts';

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

/** Of `catalog_artifact a`. */
export const OF_ARTIFACT =
  'a.workspace_id = /*sqlite +*/@workspaceId AND a.id_folded = /*sqlite +*/@idFolded';

/** A range of `group_key`: the group itself and all below it, `0` being the character after `/`. */
export const IN_GROUP = `
  v.group_path IS NOT NULL AND v.group_key >= @groupPath || '/' AND v.group_key < @groupPath || '0'`;

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

/** Name of an artifact in the audit log. An id has no slash, so that it is unambiguous. */
export function auditSubject(workspaceId: string, id: string): string {
  return `artifact/${workspaceId}/${foldId(id)}`;
}

const ARTIFACT = `SELECT a.serial FROM catalog_artifact a WHERE ${OF_ARTIFACT}`;

/** Returns the serial of an artifact; undefined when there is none. */
export async function findArtifact(
  tx: Statements,
  workspaceId: string,
  id: string,
): Promise<number | undefined> {
  const values = { workspaceId, idFolded: foldId(id) };
  return (await tx.get<{ serial: number }>(ARTIFACT, values))?.serial;
}

const CANDIDATES = `
  SELECT serial, version, type, lifecycle, published_at, created_at FROM catalog_version
  WHERE artifact_serial = @artifact`;

/** Every version of an artifact, as far as the choice among them needs it; in no order. */
export function readCandidates(tx: Statements, artifact: number): Promise<Candidate[]> {
  return tx.all<Candidate>(CANDIDATES, { artifact });
}

export type ReadVersion =
  | { kind: 'found'; record: VersionRecord; specText?: string }
  | { kind: 'no-artifact' }
  | { kind: 'no-version' }
  /** Only without `version`: nothing is PUBLISHED or DEPRECATED. `listed` stands for the artifact. */
  | { kind: 'no-default'; listed: VersionRecord };

type FoundRow = VersionRow & { specText?: string };

const SPEC = 'LEFT JOIN catalog_spec s ON s.version_serial = v.serial';

const readDefault = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.listed_serial ${join}
  WHERE ${OF_ARTIFACT}`;

const readNamed = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.artifact_serial = a.serial ${join}
  WHERE ${OF_ARTIFACT} AND v.version = /*sqlite +*/@version`;

const READ = {
  default: { spec: readDefault('s.text', SPEC), bare: readDefault('NULL', '') },
  named: { spec: readNamed('s.text', SPEC), bare: readNamed('NULL', '') },
};

/** Reads one version; its spec only with `withSpec`. */
export async function readVersion(
  tx: Statements,
  workspaceId: string,
  { id, version, withSpec }: VersionRef & { withSpec: boolean },
): Promise<ReadVersion> {
  const statement = READ[version === undefined ? 'default' : 'named'][withSpec ? 'spec' : 'bare'];
  const row = await tx.get<FoundRow>(statement, { workspaceId, idFolded: foldId(id), version });
  if (!row) {
    const isKnown = (await findArtifact(tx, workspaceId, id)) !== undefined;
    return { kind: isKnown ? 'no-version' : 'no-artifact' };
  }
  const record = toRecord(row);
  if (version === undefined && !isReadable(record)) return { kind: 'no-default', listed: record };
  return { kind: 'found', record, specText: row.specText };
}

/** Other versions and artifacts in the response for a version. */
export type Relations = {
  /** Versions of the artifact. */
  versions: number;
  /** At most 1,000, in the owner's order or by id; absent for what can have none. */
  members?: Member[];
  /** Number of members by type; not bounded by 1,000. */
  membersByType: Record<string, number>;
  /** The artifact's default version, when it is PUBLISHED and another one. */
  successor?: string;
  /** The version is the default because it was set as such. */
  isSetDefault: boolean;
};

type ListedRow = {
  versions: number;
  defaultSerial?: number;
  version: string;
  lifecycle: string;
  serial: number;
};

/** A listed version is the default one exactly when it is one of these. */
const IS_DEFAULT = "v.is_listed = true AND v.lifecycle IN ('PUBLISHED', 'DEPRECATED')";

const MEMBER_COLUMNS = 'a.id, v.type, v.title, v.lifecycle, v.group_path';

const LISTED_VERSION = `
  SELECT a.versions, a.default_serial, v.version, v.lifecycle, v.serial
  FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.listed_serial
  WHERE ${OF_ARTIFACT}`;

/** In the order of the ids. */
const LISTED_MEMBERS = `
  SELECT ${MEMBER_COLUMNS}
  FROM jsonb_to_recordset(@listed) AS listed (id_folded text, place integer)
    JOIN catalog_artifact a ON a.workspace_id = /*sqlite +*/@workspaceId AND a.id_folded = listed.id_folded
    JOIN catalog_version v ON v.serial = a.listed_serial
  WHERE ${IS_DEFAULT}
  ORDER BY listed.place`;

const GROUPED = `
  SELECT ${MEMBER_COLUMNS}
  FROM catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial
  WHERE v.workspace_id = @workspaceId AND ${IN_GROUP} AND ${IS_DEFAULT} AND a.id_folded <> @self
  ORDER BY a.id_folded LIMIT ${MEMBERS_MAX}`;

const COUNT_GROUPED = `
  SELECT v.type, count(*) AS members
  FROM catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial
  WHERE v.workspace_id = @workspaceId AND ${IN_GROUP} AND ${IS_DEFAULT} AND a.id_folded <> @self
  GROUP BY v.type ORDER BY v.type`;

/** Reads what the response for a version says of other versions and artifacts. */
export async function readRelations(tx: Statements, record: VersionRecord): Promise<Relations> {
  const values = { workspaceId: record.workspaceId, idFolded: foldId(record.id) };
  const shown = await tx.get<ListedRow>(LISTED_VERSION, values);
  const isSucceeded = shown && shown.serial !== record.serial && shown.lifecycle === 'PUBLISHED';
  return {
    versions: shown?.versions ?? 0,
    ...(await membersOf(tx, record)),
    ...(isSucceeded && { successor: shown.version }),
    isSetDefault: shown?.defaultSerial === record.serial,
  };
}

/** The owner's list; without one, a GROUP has what lies under its path. Never itself. */
async function membersOf(
  tx: Statements,
  { workspaceId, id, type, groupPath, members: named }: VersionRecord,
): Promise<Pick<Relations, 'members' | 'membersByType'>> {
  const self = foldId(id);
  if (named !== undefined) {
    const ids = named.map(foldId).filter((member) => member !== self);
    const listed = toRecords(ids.map((idFolded, place) => ({ idFolded, place })));
    const members = await tx.all<Member>(LISTED_MEMBERS, { listed, workspaceId });
    return { members, membersByType: countByType(members) };
  }
  if (type !== 'GROUP') return { membersByType: {} };
  if (groupPath === undefined) return { members: [], membersByType: {} };
  const values = { workspaceId, groupPath, self };
  const members = await tx.all<Member>(GROUPED, values);
  if (members.length < MEMBERS_MAX) return { members, membersByType: countByType(members) };
  const counted = await tx.all<{ type: string; members: number }>(COUNT_GROUPED, values);
  return {
    members,
    membersByType: Object.fromEntries(counted.map((row) => [row.type, row.members])),
  };
}

function countByType(members: readonly Member[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of members) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
