/** Who reads which version, for those who look after it, and for the readers themselves. */
import { DAY } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';
import type { VersionRecord, VersionRef } from '../version/artifact.ts';
import { findArtifact } from '../version/read-version.ts';
import { type Catalog, type Reader, refuseUnknown } from '../version/version-view.ts';
import { dayOf, type ReaderRef, USAGE_DAYS } from './record-reads.ts';

type Context = Pick<Catalog, 'db' | 'clock' | 'usage'>;

/** One who read a version in the last 90 days. */
export type VersionReader = ReaderRef & {
  /** Of a consumer, for whoever may know it. */
  name?: string;
  lastReadAt: number;
  reads: number;
};

export type VersionUsage = Pick<VersionRecord, 'version' | 'lifecycle' | 'sunsetAt'> & {
  /** Whoever read last comes first. */
  readers: VersionReader[];
};

export type Usage = {
  /** Highest version first. */
  items: VersionUsage[];
  /** There are more readers than those who read last. */
  isTruncated: boolean;
};

/** Readers of all versions together, those who read last. */
const READERS_MAX = 1000;

const NAMED = '(@version::text IS NULL OR v.version = @version)';

const VERSIONS = `
  SELECT v.serial, v.version, v.lifecycle, v.sunset_at FROM catalog_version v
  WHERE v.artifact_serial = @artifact AND ${NAMED}
  ORDER BY v.order_key DESC, coalesce(v.published_at, 0) DESC, v.created_at DESC, v.serial DESC`;

const READERS = `
  SELECT u.version_serial, u.reader_kind AS kind, u.reader_id AS id, c.name,
    max(u.last_read_at) AS last_read_at, sum(u.reads)::bigint AS reads
  FROM catalog_version v JOIN catalog_usage u ON u.version_serial = v.serial
    LEFT JOIN consumer c ON u.reader_kind = 'consumer' AND c.id = u.reader_id
  WHERE v.artifact_serial = @artifact AND ${NAMED} AND u.day >= @day
  GROUP BY u.version_serial, u.reader_kind, u.reader_id, c.name
  ORDER BY max(u.last_read_at) DESC, u.reader_id, u.version_serial LIMIT ${READERS_MAX + 1}`;

/**
 * Tells who read each version, or one, in the last 90 days. Names are for those whom `mayName` lets know them.
 * @throws {artifact-not-found}
 */
export async function readUsage(
  { db, clock, usage }: Context,
  { workspaceId }: Reader,
  { id, version, mayName }: VersionRef & { mayName: (reader: ReaderRef) => boolean },
): Promise<Usage> {
  await usage.flush();
  const artifact = await findArtifact(db, workspaceId, id);
  if (artifact === undefined) return refuseUnknown('no-artifact');
  const values = { artifact, version, day: dayOf(clock.now()) - USAGE_DAYS + 1 };
  const versions = await db.all<Omit<VersionUsage, 'readers'> & { serial: number }>(
    VERSIONS,
    values,
  );
  if (versions.length === 0) return refuseUnknown('no-version');
  const rows = await db.all<VersionReader & { versionSerial: number }>(READERS, values);
  const shown = Map.groupBy(rows.slice(0, READERS_MAX), ({ versionSerial }) => versionSerial);
  const toReader = ({ versionSerial: _serial, name, ...rest }: (typeof rows)[number]) =>
    name !== undefined && mayName(rest) ? { ...rest, name } : rest;
  return {
    items: versions.map(({ serial, ...rest }) => {
      return { ...rest, readers: (shown.get(serial) ?? []).map(toReader) };
    }),
    isTruncated: rows.length > READERS_MAX,
  };
}

/** How long ago a read is a reason not to retire a version. */
const IN_USE_MS = 30 * DAY;

/** Whether who read at that time is likely to read again. */
export function isInUse({ lastReadAt }: Pick<VersionReader, 'lastReadAt'>, now: number): boolean {
  return lastReadAt > now - IN_USE_MS;
}

const LATELY = `
  SELECT reader_id AS id FROM catalog_usage
  WHERE version_serial = @serial AND last_read_at > @since
  GROUP BY reader_kind, reader_id ORDER BY max(last_read_at) DESC, reader_id LIMIT ${READERS_MAX}`;

/** Ids of those who read the version in the last 30 days, the last first. What waits to be written is not seen. */
export async function readersLately(
  tx: Statements,
  { serial }: Pick<VersionRecord, 'serial'>,
  now: number,
): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(LATELY, { serial, since: now - IN_USE_MS });
  return rows.map(({ id }) => id);
}

/** A version that a reader is to leave. */
export type DeprecatedRead = Pick<VersionRecord, 'id' | 'version' | 'sunsetAt'>;

const DEPRECATED = `
  SELECT a.id, v.version, v.sunset_at
  FROM (SELECT DISTINCT version_serial FROM catalog_usage
      WHERE reader_kind = @kind AND reader_id = @id AND day >= @day) AS u
    JOIN catalog_version v ON v.serial = u.version_serial
    JOIN catalog_artifact a ON a.serial = v.artifact_serial
  WHERE v.workspace_id = @workspaceId AND v.lifecycle = 'DEPRECATED'
  ORDER BY v.sunset_at IS NULL, v.sunset_at, a.id_folded, v.order_key LIMIT ${READERS_MAX}`;

/** Deprecated versions of the workspace that somebody read in the last 90 days, the next sunset first. */
export async function listDeprecatedReads(
  { db, clock, usage }: Context,
  workspaceId: string,
  { kind, id }: ReaderRef,
): Promise<DeprecatedRead[]> {
  await usage.flush();
  const day = dayOf(clock.now()) - USAGE_DAYS + 1;
  return db.all<DeprecatedRead>(DEPRECATED, { workspaceId, kind, id, day });
}
