import type { Statements } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import type { Reader } from '../index.ts';
import {
  foldId,
  type Member,
  MEMBERS_MAX,
  type VersionRecord,
  type VersionView,
} from './artifact.ts';
import { IN_GROUP, OF_ARTIFACT, readRecord, type VersionQuery } from './read-version.ts';

/** Reads one version with its relations. Throws as `readRecord` does. */
export async function readView(
  db: Statements,
  reader: Reader,
  query: VersionQuery,
): Promise<VersionView> {
  return viewOf(db, await readRecord(db, reader, query));
}

/** A version that was read, with what its response says of others. */
export async function viewOf(
  db: Statements,
  { record, specText }: { record: VersionRecord; specText: string | undefined },
): Promise<VersionView> {
  const { versions, membersByType, ...relations } = await readRelations(db, record);
  const byType = Object.entries(membersByType);
  return {
    record,
    specText,
    ...relations,
    counts: {
      ...record.counts,
      versions,
      members: byType.reduce((total, [, count]) => total + count, 0),
      ...Object.fromEntries(byType.map(([type, count]) => [`members.${type}`, count])),
    },
  };
}

/** Other versions and artifacts in the response for a version. */
type Relations = {
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
export async function readRelations(db: Statements, record: VersionRecord): Promise<Relations> {
  const values = { workspaceId: record.workspaceId, idFolded: foldId(record.id) };
  const shown = await db.get<ListedRow>(LISTED_VERSION, values);
  const isSucceeded = shown && shown.serial !== record.serial && shown.lifecycle === 'PUBLISHED';
  return {
    versions: shown?.versions ?? 0,
    ...(await membersOf(db, record)),
    ...(isSucceeded && { successor: shown.version }),
    isSetDefault: shown?.defaultSerial === record.serial,
  };
}

/** The owner's list; without one, a GROUP has what lies under its path. Never itself. */
async function membersOf(
  db: Statements,
  { workspaceId, id, type, groupPath, members: named }: VersionRecord,
): Promise<Pick<Relations, 'members' | 'membersByType'>> {
  const self = foldId(id);
  if (named !== undefined) {
    const ids = named.map(foldId).filter((member) => member !== self);
    const listed = toRecords(ids.map((idFolded, place) => ({ idFolded, place })));
    const members = await db.all<Member>(LISTED_MEMBERS, { listed, workspaceId });
    return { members, membersByType: countByType(members) };
  }
  if (type !== 'GROUP') return { membersByType: {} };
  if (groupPath === undefined) return { members: [], membersByType: {} };
  const values = { workspaceId, groupPath, self };
  const members = await db.all<Member>(GROUPED, values);
  if (members.length < MEMBERS_MAX) return { members, membersByType: countByType(members) };
  const counted = await db.all<{ type: string; members: number }>(COUNT_GROUPED, values);
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
