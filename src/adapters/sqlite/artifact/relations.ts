import { foldId, MEMBERS_MAX } from '#catalog/version/artifact.ts';
import type { Member, VersionRecord } from '#catalog/version/artifact.ts';
import type { Relations } from '#catalog/artifact-store.ts';
import type { RowOf } from '#shared/store/row.ts';
import type { Connection } from '../connection/connection.ts';

type MemberRow = RowOf<Member>;

type RepresentativeRow = {
  versions: number;
  pinnedSerial: number | null;
  version: string;
  lifecycle: string;
  serial: number;
};

/** A representative version is the default one exactly when it is one of these. */
const IS_DEFAULT = "v.isFace = 1 AND v.lifecycle IN ('PUBLISHED', 'DEPRECATED')";

const MEMBER_COLUMNS = 'a.id, v.type, v.title, v.lifecycle, v.groupPath';

/** A range of `groupKey`: the group itself and all below it, `0` being the character after `/`. */
const IN_GROUP =
  "v.workspaceId = ? AND v.groupPath IS NOT NULL AND v.groupKey >= ? || '/' AND v.groupKey < ? || '0'";

/** A plus before a parameter: see `openConnection`. */
function prepare({ handle }: Connection) {
  return {
    representative: handle.prepare<[string, string], RepresentativeRow>(
      `SELECT a.versions, a.pinnedSerial, v.version, v.lifecycle, v.serial
       FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.faceSerial
       WHERE a.workspaceId = +? AND a.idFolded = +?`,
    ),
    /** In the order of the ids, which come as a JSON array. */
    listed: handle.prepare<[string, string], MemberRow>(
      `SELECT ${MEMBER_COLUMNS}
       FROM json_each(?) AS listed
       CROSS JOIN catalog_artifact a ON a.workspaceId = +? AND a.idFolded = listed.value
       CROSS JOIN catalog_version v ON v.serial = a.faceSerial
       WHERE ${IS_DEFAULT}
       ORDER BY listed.key`,
    ),
    grouped: handle.prepare<[string, string, string, string, number], MemberRow>(
      `SELECT ${MEMBER_COLUMNS}
       FROM catalog_version v JOIN catalog_artifact a ON a.serial = v.artifactSerial
       WHERE ${IN_GROUP} AND ${IS_DEFAULT} AND a.idFolded <> ?
       ORDER BY a.idFolded LIMIT ?`,
    ),
    countGrouped: handle.prepare<
      [string, string, string, number],
      { type: string; members: number }
    >(
      `SELECT v.type, COUNT(*) AS members FROM catalog_version v
       WHERE ${IN_GROUP} AND ${IS_DEFAULT} AND v.artifactSerial <> ?
       GROUP BY v.type ORDER BY v.type`,
    ),
    artifactOf: handle
      .prepare<[number], number>('SELECT artifactSerial FROM catalog_version WHERE serial = ?')
      .pluck(),
  };
}

/** Reads what the response for a version says of other versions and artifacts. */
export function createRelationsReader(
  connection: Connection,
): (workspaceId: string, record: VersionRecord) => Relations {
  const statements = prepare(connection);
  return (workspaceId, record) => {
    const shown = statements.representative.get(workspaceId, foldId(record.id));
    const isSucceeded = shown && shown.serial !== record.serial && shown.lifecycle === 'PUBLISHED';
    return {
      versions: shown?.versions ?? 0,
      ...membersOf(statements, workspaceId, record),
      ...(isSucceeded && { successor: shown.version }),
      isSetDefault: shown?.pinnedSerial === record.serial,
    };
  };
}

/** The owner's list; without one, a GROUP has what lies under its path. Never itself. */
function membersOf(
  statements: ReturnType<typeof prepare>,
  workspaceId: string,
  record: VersionRecord,
): Pick<Relations, 'members' | 'membersByType'> {
  const self = foldId(record.id);
  if (record.members !== undefined) {
    const ids = JSON.stringify(record.members.map(foldId).filter((id) => id !== self));
    const members = statements.listed.all(ids, workspaceId).map(toMember);
    return { members, membersByType: countByType(members) };
  }
  if (record.type !== 'GROUP') return { membersByType: {} };
  const path = record.groupPath;
  if (path === undefined) return { members: [], membersByType: {} };
  const rows = statements.grouped.all(workspaceId, path, path, self, MEMBERS_MAX);
  const members = rows.map(toMember);
  if (members.length < MEMBERS_MAX) return { members, membersByType: countByType(members) };
  const artifact = statements.artifactOf.get(record.serial) ?? 0;
  const counted = statements.countGrouped.all(workspaceId, path, path, artifact);
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

function toMember({ groupPath, ...row }: MemberRow): Member {
  return { ...row, ...(groupPath !== null && { groupPath }) };
}
