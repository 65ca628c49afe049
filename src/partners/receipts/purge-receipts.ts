import { type Clock, DAY, HOUR, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { ReceiptStore } from './receipt-store.ts';

/** How long a repeat is known, and the payload of an event that failed is stored for a replay. */
export const PAYLOAD_KEPT_MS = 30 * DAY;
const PURGE_EVERY_MS = HOUR;

export type PurgeDeps = { store: Pick<ReceiptStore, 'purge'>; clock: Clock; log: Log };

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

async function purge({ store, clock, log }: PurgeDeps): Promise<void> {
  try {
    const { keys, payloads } = await store.purge(clock.now() - PAYLOAD_KEPT_MS);
    if (keys + payloads > 0) log.info({ keys, payloads }, 'receipts purged');
  } catch (error) {
    log.warn(errorFields(error), 'receipts could not be purged');
  }
}
