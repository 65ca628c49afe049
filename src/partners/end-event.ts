import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Settlement, WorkItem, WorkStore } from './work-store.ts';

export type EndDeps = { store: Pick<WorkStore, 'settle'>; clock: Clock; log: Log };

/**
 * Settles an event; a dead letter is told in the log as well, since it waits for a person. False
 * when another worker has the event. @throws {store-unavailable}
 */
export async function endEvent(
  { store, clock, log }: EndDeps,
  item: WorkItem,
  settlement: Settlement,
): Promise<boolean> {
  const isSettled = await store.settle(item, settlement, clock.now());
  if (isSettled && settlement.outcome === 'FAILED')
    log.warn({ receiptId: item.receiptId, code: settlement.lastError }, 'dead letter');
  return isSettled;
}
