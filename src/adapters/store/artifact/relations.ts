import { foldId, type Member, MEMBERS_MAX, type VersionRecord } from '#catalog/version/artifact.ts';
import type { Relations } from '#catalog/artifact-store.ts';
import { OF_ARTIFACT } from './rows.ts';
import type { Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';

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

/** A range of `group_key`: the group itself and all below it, `0` being the character after `/`. */
export const IN_GROUP = `
  v.group_path IS NOT NULL AND v.group_key >= @groupPath || '/' AND v.group_key < @groupPath || '0'`;

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
export async function readRelations(
  session: Tx,
  workspaceId: string,
  record: VersionRecord,
): Promise<Relations> {
  const idFolded = foldId(record.id);
  const shown = await session.get<ListedRow>(LISTED_VERSION, { workspaceId, idFolded });
  const isSucceeded = shown && shown.serial !== record.serial && shown.lifecycle === 'PUBLISHED';
  return {
    versions: shown?.versions ?? 0,
    ...(await membersOf(session, workspaceId, record)),
    ...(isSucceeded && { successor: shown.version }),
    isSetDefault: shown?.defaultSerial === record.serial,
  };
}

/** The owner's list; without one, a GROUP has what lies under its path. Never itself. */
async function membersOf(
  session: Tx,
  workspaceId: string,
  record: VersionRecord,
): Promise<Pick<Relations, 'members' | 'membersByType'>> {
  const self = foldId(record.id);
  if (record.members !== undefined) {
    const ids = record.members.map(foldId).filter((id) => id !== self);
    const listed = toRecords(ids.map((idFolded, place) => ({ idFolded, place })));
    const members = await session.all<Member>(LISTED_MEMBERS, { listed, workspaceId });
    return { members, membersByType: countByType(members) };
  }
  if (record.type !== 'GROUP') return { membersByType: {} };
  const { groupPath } = record;
  if (groupPath === undefined) return { members: [], membersByType: {} };
  const values = { workspaceId, groupPath, self };
  const members = await session.all<Member>(GROUPED, values);
  if (members.length < MEMBERS_MAX) return { members, membersByType: countByType(members) };
  const counted = await session.all<{ type: string; members: number }>(COUNT_GROUPED, values);
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
