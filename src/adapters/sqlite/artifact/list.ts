import { foldId } from '#catalog/version/artifact.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type {
  ArtifactStore,
  ListedAudit,
  ListedVersion,
  ListQuery,
} from '#catalog/artifact-store.ts';
import { toRecord, VERSION_COLUMNS } from './rows.ts';
import type { VersionRow } from './rows.ts';
import { auditSubject } from './write-family.ts';
import { listAuditOf } from '../../store/audit-log.ts';
import type { Connection } from '../connection/connection.ts';

const FROM = 'catalog_version v JOIN catalog_artifact a ON a.serial = v.artifactSerial';

/** Column lists are narrow on purpose: a page must not read what it does not show. */
type ListStatement = { sql: string; values: (string | number)[] };

/**
 * Each filter is an equality or one range, so that an index leads to it; the rows come in the
 * order of `position`, newest first. With search terms the full text leads.
 */
function listStatement(workspaceId: string, query: ListQuery): ListStatement {
  const isByArtifact = query.rows === 'artifacts';
  const position = isByArtifact ? 'v.artifactSerial' : 'v.serial';
  const conditions: [string, ...(string | number)[]][] = [['v.workspaceId = ?', workspaceId]];
  if (isByArtifact) conditions.push(['v.isFace = 1']);
  for (const name of ['type', 'lifecycle', 'owner', 'source', 'projectId'] as const) {
    const value = query[name];
    if (value !== undefined) conditions.push([`v.${name} = ?`, value]);
  }
  if (query.groupPath !== undefined)
    conditions.push(
      ['v.groupPath IS NOT NULL'],
      ["v.groupKey >= ? || '/' AND v.groupKey < ? || '0'", query.groupPath, query.groupPath],
    );
  if (query.terms) return searchStatement(query, { isByArtifact, conditions });
  if (query.after !== undefined) conditions.push([`${position} < ?`, query.after]);
  return {
    sql: `SELECT ${VERSION_COLUMNS} FROM ${FROM} WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
          ORDER BY ${position} DESC LIMIT ?`,
    values: [...conditions.flatMap(([, ...values]) => values), query.limit],
  };
}

/** CROSS JOIN puts the full text outermost, whose rows come in order of their rowid. */
function searchStatement(
  query: ListQuery,
  {
    isByArtifact,
    conditions,
  }: { isByArtifact: boolean; conditions: [string, ...(string | number)[]][] },
): ListStatement {
  const table = isByArtifact ? 'catalog_artifact_text' : 'catalog_version_text';
  const key = isByArtifact ? 'a.faceSerial' : 'found.rowid';
  const match = (query.terms ?? []).map((term) => `"${term}"*`).join(' AND ');
  return {
    sql: `SELECT ${VERSION_COLUMNS} FROM ${table} found
          ${isByArtifact ? 'CROSS JOIN catalog_artifact a ON a.serial = found.rowid' : ''}
          CROSS JOIN catalog_version v ON v.serial = ${key}
          ${isByArtifact ? '' : 'CROSS JOIN catalog_artifact a ON a.serial = v.artifactSerial'}
          WHERE ${table} MATCH ? AND found.rowid < ?
            AND ${conditions.map(([sql]) => sql).join(' AND ')}
          ORDER BY found.rowid DESC LIMIT ?`,
    values: [
      match,
      query.after ?? Number.MAX_SAFE_INTEGER,
      ...conditions.flatMap(([, ...values]) => values),
      query.limit,
    ],
  };
}

const LIST_VERSIONS = `
  SELECT ${VERSION_COLUMNS} FROM ${FROM}
  WHERE a.workspaceId = @workspaceId AND a.idFolded = @idFolded
    AND (v.orderKey, IFNULL(v.publishedAt, 0), v.createdAt, v.serial)
      < (@key, @publishedAt, @createdAt, @serial)
  ORDER BY v.orderKey DESC, IFNULL(v.publishedAt, 0) DESC, v.createdAt DESC, v.serial DESC
  LIMIT @limit`;

/** Above every key: keys are ASCII and start with a digit. */
const TOP = { key: '~', publishedAt: 0, createdAt: 0, serial: 0 };

/** The lists of the store, synchronous. */
export function createArtifactLists(connection: Connection) {
  const { handle } = connection;
  const exists = handle.prepare<[string, string], number>(
    'SELECT 1 FROM catalog_artifact WHERE workspaceId = ? AND idFolded = ?',
  );
  const versions = handle.prepare<[Record<string, string | number>], VersionRow>(LIST_VERSIONS);
  return {
    list: (workspaceId: string, query: ListQuery): ListedVersion[] => {
      const { sql, values } = listStatement(workspaceId, query);
      const rows = handle.prepare<(string | number)[], VersionRow>(sql).all(...values);
      return rows.map((row) => ({
        record: toRecord(row),
        position: query.rows === 'artifacts' ? row.artifactSerial : row.serial,
      }));
    },
    listVersions: (
      workspaceId: string,
      { id, after = TOP, limit }: Parameters<ArtifactStore['listVersions']>[1],
    ): VersionRecord[] | undefined => {
      if (exists.get(workspaceId, foldId(id)) === undefined) return undefined;
      return versions.all({ workspaceId, idFolded: foldId(id), ...after, limit }).map(toRecord);
    },
    listAudit: async (
      workspaceId: string,
      { id, after, limit }: Parameters<ArtifactStore['listAudit']>[1],
    ): Promise<ListedAudit[] | undefined> => {
      if (exists.get(workspaceId, foldId(id)) === undefined) return undefined;
      return listAuditOf(connection, auditSubject(workspaceId, id), { after, limit });
    },
  };
}
