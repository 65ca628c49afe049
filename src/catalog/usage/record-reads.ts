import { type Clock, dayOf } from '#shared/clock.ts';
import { type Database, send } from '#shared/database.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import { toRecords } from '#shared/sql.ts';
import { hasAtSign } from '#shared/text/at-sign.ts';

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
