import { type Clock, dayOf } from '#shared/clock.ts';
import { type Database, send } from '#shared/database.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import { toRecords } from '#shared/sql.ts';

/**
 * Verdict on deliveries before anything was accepted: `verified` (then `detail` is the start of the
 * secret's digest) or `refused` (then it is the reason).
 */
type TrafficKind = 'verified' | 'refused';

/** Deliveries of one sender in one UTC day that ended alike. */
export type TrafficCount = {
  /** A partner's id, or `TRACKER`. Never what a request merely claims to be. */
  sender: string;
  kind: TrafficKind;
  detail: string;
  /** Days since the Unix epoch. */
  day: number;
  count: number;
  /** Time at which the last of them came, in milliseconds since the Unix epoch. */
  lastAt: number;
};

/** Days that the record goes back. */
export const TRAFFIC_DAYS = 30;

/** In the order of the key, so that two instances never wait for each other. */
const ADD = `
  INSERT INTO traffic (sender, kind, detail, day, count, last_at)
  SELECT sender, kind, detail, day, count, last_at FROM jsonb_to_recordset(@counts) AS given
    (sender text, kind text, detail text, day bigint, count bigint, last_at bigint)
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (sender, kind, detail, day) DO UPDATE SET
    count = traffic.count + excluded.count,
    last_at = greatest(traffic.last_at, excluded.last_at)`;

const REMOVE_BEFORE = 'DELETE FROM traffic WHERE day < @day';

const SINCE = 'SELECT sender, kind, detail, day, count, last_at FROM traffic WHERE day >= @day';

/** The record of traffic in the store, shared by all instances. Returns every count from `day` on. @throws {store-unavailable} */
export function readTraffic(database: Database, day: number): Promise<TrafficCount[]> {
  return database.all<TrafficCount>(SINCE, { day });
}

/** Adds to what is there, and drops days that are too old. @throws {store-unavailable} */
export async function addTraffic(
  database: Database,
  counts: readonly TrafficCount[],
): Promise<void> {
  if (counts.length === 0) return;
  const newest = Math.max(...counts.map(({ day }) => day));
  await database.transaction(async (tx) => {
    send(tx, ADD, { counts: toRecords(counts) });
    send(tx, REMOVE_BEFORE, { day: newest - TRAFFIC_DAYS + 1 });
  });
}

/** The sender of the tracker's webhook; no partner can be called so. */
export const TRACKER = '@tracker';

/** Deliveries that ended alike in the days that were asked for. */
export type TrafficSum = Omit<TrafficCount, 'day'>;

/** Notes senders that got through or did not, for operators. A crash may lose its last five seconds. */
export type Traffic = {
  /** Notes one delivery. Costs no I/O. */
  record(sender: string, kind: TrafficKind, detail: string): void;
  /** Sums over the last `days` UTC days, today included, latest first. @throws {store-unavailable} */
  read(days: number): Promise<TrafficSum[]>;
  /** Writes what was collected. A store that fails is logged, and tried again the next time. */
  flush(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

/** All instances on one store share what they record. */
export function createTraffic({
  database,
  clock,
  log,
}: {
  database: Database;
  clock: Clock;
  log: Log;
}): Traffic {
  const late = createLateWrites<string, TrafficCount>({
    write: (collected) => addTraffic(database, [...collected.values()]),
    merge,
    clock,
    log,
    failure: 'could not write who got through',
  });
  return {
    record: (sender, kind, detail) => {
      const lastAt = clock.now();
      const day = dayOf(lastAt);
      const count = { sender, kind, detail, day, count: 1, lastAt };
      late.record(JSON.stringify([sender, kind, detail, day]), count);
    },
    read: async (days) => sumUp(await readTraffic(database, dayOf(clock.now()) - days + 1)),
    flush: () => late.flush(),
    close: () => late.close(),
  };
}

function merge<T extends TrafficSum>(older: T, newer: T): T {
  return {
    ...older,
    count: older.count + newer.count,
    lastAt: Math.max(older.lastAt, newer.lastAt),
  };
}

function sumUp(counts: readonly TrafficCount[]): TrafficSum[] {
  const sums = new Map<string, TrafficSum>();
  for (const { day: _day, ...count } of counts) {
    const name = JSON.stringify([count.sender, count.kind, count.detail]);
    const sum = sums.get(name);
    sums.set(name, sum ? merge(sum, count) : count);
  }
  return [...sums.values()].sort((left, right) => right.lastAt - left.lastAt);
}
