/** Usage: who reads which version, as it is recorded, and as those who look after it and the readers themselves are told. */
import { type Clock, DAY, dayOf } from '#shared/clock.ts';
import { type Database, send, type Statements } from '#shared/database.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import { toRecords } from '#shared/sql.ts';
import { hasAtSign } from '#shared/text/at-sign.ts';
import { createTurns } from '#shared/resilience/turns.ts';
import type { VersionRecord, VersionRef } from './version/artifact.ts';
import { findArtifact, refuseUnknown } from './version/read-version.ts';

/** A consumer by its id, or the client of a token by what its issuer calls it; never a person. */
export type ReaderRef = { kind: 'consumer' | 'client'; id: string };

/** Reads of one version by one reader in one UTC day. */
type ReadCount = ReaderRef & {
  versionSerial: number;
  /** Days since the Unix epoch. */
  day: number;
  reads: number;
  lastReadAt: number;
};

/** Days that are told of, today included. */
export const USAGE_DAYS = 90;

/** Keeps the JSON of one batch well within the time of one turn. */
const WAITING_MAX = 10_000;

/** A version that is gone meanwhile, a draft, is passed over. In the order of the key: instances never wait for each other. */
const ADD = `
  INSERT INTO catalog_usage (version_serial, reader_kind, reader_id, day, reads, last_read_at)
  SELECT version_serial, kind, id, day, reads, last_read_at FROM jsonb_to_recordset(@counts) AS given
    (version_serial bigint, kind text, id text, day bigint, reads bigint, last_read_at bigint)
  WHERE EXISTS (SELECT 1 FROM catalog_version v WHERE v.serial = version_serial)
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (version_serial, reader_kind, reader_id, day) DO UPDATE SET
    reads = catalog_usage.reads + excluded.reads,
    last_read_at = greatest(catalog_usage.last_read_at, excluded.last_read_at)`;

const REMOVE_BEFORE = 'DELETE FROM catalog_usage WHERE day < @day';

/** The record of reads. A crash may lose its last five seconds, as long as the store takes writes. */
export type ReadRecord = {
  /** Notes one read. Costs no I/O. */
  record(versionSerial: number, reader: ReaderRef): void;
  /** Writes all that was recorded before. A store that fails is logged, and tried again the next time. */
  flush(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

/** All instances on one store share what they record. */
export function createReadRecord({
  db,
  clock,
  log,
}: {
  db: Database;
  clock: Clock;
  log: Log;
}): ReadRecord {
  const late = createLateWrites<string, ReadCount>({
    write: (collected) => addReads(db, [...collected.values()], dayOf(clock.now())),
    merge: (older, { lastReadAt }) => ({ ...older, reads: older.reads + 1, lastReadAt }),
    keysMax: WAITING_MAX,
    clock,
    log,
    failure: 'could not write who read which version',
  });
  return {
    record: (versionSerial, { kind, id }) => {
      const lastReadAt = clock.now();
      const day = dayOf(lastReadAt);
      const key = `${versionSerial} ${day} ${kind} ${id}`;
      late.record(key, { versionSerial, kind, id, day, reads: 1, lastReadAt });
    },
    flush: () => late.flush(),
    close: () => late.close(),
  };
}

/** Adds to what is there, and drops days that are too old. */
async function addReads(db: Database, counts: readonly ReadCount[], today: number): Promise<void> {
  await db.transaction(async (tx) => {
    send(tx, ADD, { counts: toRecords(counts) });
    send(tx, REMOVE_BEFORE, { day: today - USAGE_DAYS + 1 });
  });
}

/** Clients of tokens that name none. */
const UNKNOWN = 'unknown';
const CLIENT_CHARACTERS_MAX = 200;
/** Text that may be a person's, an address or a name, or that nobody can read. */
const PERSONAL = /[\s\p{Cc}\p{Cf}\p{Cs}]/u;

/** The client of a token as it is recorded: what may be of a person is not. */
export function clientReader(clientId: string = UNKNOWN): ReaderRef {
  const isPersonal = PERSONAL.test(clientId) || hasAtSign(clientId);
  const isNamed = clientId.length <= CLIENT_CHARACTERS_MAX && !isPersonal;
  return { kind: 'client', id: isNamed ? clientId : UNKNOWN };
}

/** Reads as they are stored, and those that wait to be. */
type Recorded = { db: Statements; clock: Pick<Clock, 'now'>; usage: Pick<ReadRecord, 'flush'> };

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
  { db, clock, usage }: Recorded,
  { workspaceId }: { workspaceId: string },
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
  { db, clock, usage }: Recorded,
  workspaceId: string,
  { kind, id }: ReaderRef,
): Promise<DeprecatedRead[]> {
  await usage.flush();
  const day = dayOf(clock.now()) - USAGE_DAYS + 1;
  return db.all<DeprecatedRead>(DEPRECATED, { workspaceId, kind, id, day });
}
