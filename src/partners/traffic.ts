import { type Clock, DAY } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';

/**
 * What became of deliveries before anything was accepted: `verified` (then `detail` is the start of the
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
  /** When the last of them came, in milliseconds since the Unix epoch. */
  lastAt: number;
};

/** Days that the record goes back. */
export const TRAFFIC_DAYS = 30;

/** The record of traffic, shared by all instances. */
export type TrafficStore = {
  /**
   * Adds to what is there, and drops days that are too old. One transaction.
   * @throws {store-unavailable}
   */
  add(counts: readonly TrafficCount[]): Promise<void>;
  /** Every count from `day` on. @throws {store-unavailable} */
  readSince(day: number): Promise<TrafficCount[]>;
};

/** The sender of the tracker's webhook; no partner can be called so. */
export const TRACKER = '@tracker';

export type TrafficDeps = { store: TrafficStore; clock: Clock; log: Log };

/** Deliveries that ended alike in the days that were asked for. */
export type TrafficSum = Omit<TrafficCount, 'day'>;

/** Who got through and who did not, for operators. A crash may lose its last five seconds. */
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
export function createTraffic({ store, clock, log }: TrafficDeps): Traffic {
  const late = createLateWrites<string, TrafficCount>({
    write: (collected) => store.add([...collected.values()]),
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
    read: async (days) => sumUp(await store.readSince(dayOf(clock.now()) - days + 1)),
    flush: () => late.flush(),
    close: () => late.close(),
  };
}

const dayOf = (at: number): number => Math.floor(at / DAY);

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
