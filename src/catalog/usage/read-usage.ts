/** Tells who reads which version: those who look after it, and the readers themselves. */
import { DAY, dayOf } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';
import { createTurns } from '#shared/resilience/turns.ts';
import type { VersionRecord, VersionRef } from '../version/artifact.ts';
import type { Catalog, Reader } from '../index.ts';
import { findArtifact, refuseUnknown } from '../version/read-version.ts';
import { type ReaderRef, USAGE_DAYS } from './record-reads.ts';

/** A reader of a version in the last 90 days. */
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

const VERSIONS = `
  SELECT v.serial, v.version, v.lifecycle, v.sunset_at FROM catalog_version v
  WHERE v.artifact_serial = @artifact AND (@version::text IS NULL OR v.version = @version)
  ORDER BY v.order_key DESC, coalesce(v.published_at, 0) DESC, v.created_at DESC, v.serial DESC`;

/** Of one version. Summed in the order of the key, and named after that: otherwise it takes twice as long. */
const READERS = `
  SELECT u.kind, u.id, u.last_read_at, u.reads, c.name
  FROM (SELECT reader_kind AS kind, reader_id AS id, max(last_read_at) AS last_read_at, sum(reads)::bigint AS reads
      FROM catalog_usage WHERE version_serial = @serial AND day >= @day GROUP BY reader_kind, reader_id
      ORDER BY max(last_read_at) DESC, reader_id LIMIT ${READERS_MAX + 1}) AS u
    LEFT JOIN consumer c ON u.kind = 'consumer' AND c.id = u.id
  ORDER BY u.last_read_at DESC, u.id`;

/** A version with some thousand readers takes most of what one turn of the event loop has. */
const VERSIONS_A_TURN = 1;

type Serial = Pick<VersionRecord, 'serial'>;

/** The readers who read last, one more than are told of. */
async function readersOf(db: Statements, versions: readonly Serial[], day: number) {
  const turn = createTurns(VERSIONS_A_TURN);
  let all: (VersionReader & Serial)[] = [];
  for (const { serial } of versions) {
    await turn();
    const found = await db.all<VersionReader>(READERS, { serial, day });
    all = [...all, ...found.map((reader) => ({ ...reader, serial }))]
      .toSorted((left, right) => right.lastReadAt - left.lastReadAt)
      .slice(0, READERS_MAX + 1);
  }
  return all;
}

/**
 * Tells who read each version, or one, in the last 90 days. Names are for those whom `mayName` lets know them.
 * @throws {artifact-not-found}
 */
export async function readUsage(
  { db, clock, usage }: Catalog,
  { workspaceId }: Reader,
  { id, version, mayName }: VersionRef & { mayName: (reader: ReaderRef) => boolean },
): Promise<Usage> {
  await usage.flush();
  const artifact = await findArtifact(db, workspaceId, id);
  if (artifact === undefined) return refuseUnknown('no-artifact');
  const versions = await db.all<Omit<VersionUsage, 'readers'> & Serial>(VERSIONS, {
    artifact,
    version,
  });
  if (versions.length === 0) return refuseUnknown('no-version');
  const all = await readersOf(db, versions, dayOf(clock.now()) - USAGE_DAYS + 1);
  const shown = Map.groupBy(all.slice(0, READERS_MAX), ({ serial }) => serial);
  const toReader = ({ serial: _serial, name, ...rest }: (typeof all)[number]) =>
    name !== undefined && mayName(rest) ? { ...rest, name } : rest;
  return {
    items: versions.map(({ serial, ...rest }) => {
      return { ...rest, readers: (shown.get(serial) ?? []).map(toReader) };
    }),
    isTruncated: all.length > READERS_MAX,
  };
}

/** A read is a reason not to retire a version for this long. */
const IN_USE_MS = 30 * DAY;

/** True when a reader that read last then is likely to read again. */
export function isInUse({ lastReadAt }: VersionReader, now: number): boolean {
  return lastReadAt > now - IN_USE_MS;
}

const LATELY = `
  SELECT reader_id AS id FROM catalog_usage
  WHERE version_serial = @serial AND last_read_at > @since
  GROUP BY reader_kind, reader_id ORDER BY max(last_read_at) DESC, reader_id LIMIT ${READERS_MAX}`;

/** Ids of those who read the version in the last 30 days, the last first. What waits to be written is not seen. */
export async function readersLately(
  db: Statements,
  { serial }: VersionRecord,
  now: number,
): Promise<string[]> {
  const rows = await db.all<{ id: string }>(LATELY, { serial, since: now - IN_USE_MS });
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
  { db, clock, usage }: Catalog,
  workspaceId: string,
  { kind, id }: ReaderRef,
): Promise<DeprecatedRead[]> {
  await usage.flush();
  const day = dayOf(clock.now()) - USAGE_DAYS + 1;
  return db.all<DeprecatedRead>(DEPRECATED, { workspaceId, kind, id, day });
}
