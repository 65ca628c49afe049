import { type Clock, DAY, HOUR, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Database } from '#shared/database.ts';
import { purgeReceipts } from './replay-receipts.ts';

/** How long a repeat is known, and the payload of an event that failed is stored for a replay. */
export const PAYLOAD_KEPT_MS = 30 * DAY;
const PURGE_EVERY_MS = HOUR;

type PurgeDeps = { db: Database; clock: Clock; log: Log };

/** Forgets what is 30 days old, at its start and then every hour. */
export type ReceiptPurger = {
  /** Again after `stop`, too. */
  start(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
};

/** A store that fails is tried again with the next hour. */
export function createReceiptPurger(deps: PurgeDeps): ReceiptPurger {
  let stopping = new AbortController();
  let running: Promise<void> | undefined;
  return {
    start: () => {
      if (stopping.signal.aborted) stopping = new AbortController();
      running ??= purgeUntil(deps, stopping.signal);
    },
    stop: async () => {
      stopping.abort(new Error('the purger stops'));
      await running;
      running = undefined;
    },
  };
}

async function purgeUntil(deps: PurgeDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await purge(deps);
    await sleepUntilAborted(deps.clock, PURGE_EVERY_MS, stopping);
  }
}

async function purge({ db, clock, log }: PurgeDeps): Promise<void> {
  try {
    const { keys, payloads } = await purgeReceipts(db, clock.now() - PAYLOAD_KEPT_MS);
    if (keys + payloads > 0) log.info({ keys, payloads }, 'receipts purged');
  } catch (error) {
    log.warn(errorFields(error), 'receipts could not be purged');
  }
}
