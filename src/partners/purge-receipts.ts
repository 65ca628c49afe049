import { type Clock, DAY, HOUR } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { ReceiptStore } from './receipt-store.ts';

/** How long a repeat is known, and the payload of an event that failed is kept for a replay. */
const KEPT_MS = 30 * DAY;
const PURGE_EVERY_MS = HOUR;

export type PurgeDeps = { store: Pick<ReceiptStore, 'purge'>; clock: Clock; log: Log };

/**
 * Forgets what was kept for 30 days, at once and then every hour, until `stopping` is aborted.
 * A store that fails is tried again with the next hour.
 */
export async function purgeReceipts(
  { store, clock, log }: PurgeDeps,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      const { keys, payloads } = await store.purge(clock.now() - KEPT_MS);
      if (keys + payloads > 0) log.info({ keys, payloads }, 'receipts purged');
    } catch (error) {
      log.warn(errorFields(error), 'receipts could not be purged');
    }
    await clock.sleep(PURGE_EVERY_MS, { signal: stopping, unref: true }).catch(() => undefined);
  }
}
