import { type Clock, DAY, HOUR, MINUTE } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Database } from '#shared/database.ts';
import { createRepeating, type Repeating } from '#shared/resilience/background.ts';

/** Lifetime of the keys of repeats, and of the payload of an event that failed, which a replay needs. */
export const PAYLOAD_KEPT_MS = 30 * DAY;
const PURGE_EVERY_MS = HOUR;
const LOOK_EVERY_MS = MINUTE;

/** Rows that are purged in one transaction: a month's worth must not hold up others. */
const CHUNK_ROWS = 1000;

const FORGET_SAME_EVENTS = `
  DELETE FROM same_event WHERE (id_key, person_key, key) IN
    (SELECT id_key, person_key, key FROM same_event WHERE first_seen_at < @before
     LIMIT ${CHUNK_ROWS})`;

const DROP_PAYLOADS = `
  UPDATE event SET payload = NULL WHERE id IN
    (SELECT id FROM event WHERE payload IS NOT NULL AND completed_at < @before
     LIMIT ${CHUNK_ROWS})`;

/** As long as a receipt has a status address, the event's digest is there to be signed. */
const DROP_DIGESTS = `
  UPDATE event SET digest = NULL WHERE id IN
    (SELECT id FROM event WHERE digest IS NOT NULL
       AND receipt <= (SELECT number FROM receipt WHERE received_at < @before ORDER BY received_at DESC LIMIT 1)
     LIMIT ${CHUNK_ROWS})`;

/**
 * Forgets what is 30 days old every hour; `onDropped` is to take it out of the store's files. A store that fails is tried
 * again with the next one. A clock that is ahead must not take away what a replay needs: the age counts by the one of two
 * clocks that is behind, and until the tracker has told its time nothing is forgotten.
 */
export function createReceiptPurger({
  db,
  earliestNow,
  onDropped,
  clock,
  log,
}: {
  db: Database;
  earliestNow: () => number | undefined;
  onDropped: () => void;
  clock: Clock;
  log: Log;
}): Repeating {
  let dueAtMs = -Infinity;
  const purge = async (nowMs: number): Promise<void> => {
    try {
      const { keys, payloads } = await purgeReceipts(db, nowMs - PAYLOAD_KEPT_MS);
      if (keys + payloads > 0) {
        onDropped();
        log.info({ keys, payloads }, 'receipts purged');
      }
    } catch (error) {
      log.warn(errorFields(error), 'receipts could not be purged');
    }
  };
  const purgeWhenDue = async (): Promise<void> => {
    const nowMs = earliestNow();
    if (nowMs === undefined || clock.monotonicMs() < dueAtMs) return;
    dueAtMs = clock.monotonicMs() + PURGE_EVERY_MS;
    await purge(nowMs);
  };
  return createRepeating(purgeWhenDue, LOOK_EVERY_MS, clock);
}

export async function purgeReceipts(
  database: Database,
  before: number,
): Promise<{ keys: number; payloads: number }> {
  const chunk = (sql: string) => () => database.exclusive((tx) => tx.run(sql, { before }));
  await untilNothing(chunk(DROP_DIGESTS));
  return {
    keys: await untilNothing(chunk(FORGET_SAME_EVENTS)),
    payloads: await untilNothing(chunk(DROP_PAYLOADS)),
  };
}

/** Repeats `work` until it changes nothing more; returns how much it changed in all. */
async function untilNothing(work: () => Promise<number>): Promise<number> {
  for (let sum = 0; ;) {
    const changes = await work();
    if (changes === 0) return sum;
    sum += changes;
  }
}
