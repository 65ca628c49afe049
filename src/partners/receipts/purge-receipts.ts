import { type Clock, DAY, HOUR } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Database } from '#shared/database.ts';
import { purgeReceipts } from './replay-receipts.ts';
import { createRepeating, type Repeating } from '#shared/resilience/repeating.ts';

/** How long a repeat is known, and the payload of an event that failed is stored for a replay. */
export const PAYLOAD_KEPT_MS = 30 * DAY;
const PURGE_EVERY_MS = HOUR;

type PurgeDeps = { db: Database; clock: Clock; log: Log };

/** Forgets what is 30 days old, every hour. A store that fails is tried again with the next one. */
export function createReceiptPurger(deps: PurgeDeps): Repeating {
  return createRepeating(() => purge(deps), PURGE_EVERY_MS, deps.clock);
}

async function purge({ db, clock, log }: PurgeDeps): Promise<void> {
  try {
    const { keys, payloads } = await purgeReceipts(db, clock.now() - PAYLOAD_KEPT_MS);
    if (keys + payloads > 0) log.info({ keys, payloads }, 'receipts purged');
  } catch (error) {
    log.warn(errorFields(error), 'receipts could not be purged');
  }
}
