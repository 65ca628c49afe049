import type { Clock } from '#shared/clock.ts';
import type { OutcomeReporter } from '../receipts/report-outcomes.ts';
import type { SettleResult, Settlement, WorkItem, WorkStore } from '../worker/work-store.ts';

export type EndDeps = {
  store: Pick<WorkStore, 'settle'>;
  clock: Clock;
  reporter: Pick<OutcomeReporter, 'settled'>;
};

/**
 * Settles an event and reports it. `issues` are those that something is still to be done about.
 * @throws {store-unavailable}
 */
export async function endEvent(
  { store, clock, reporter }: EndDeps,
  item: WorkItem,
  settlement: Settlement,
  issues: readonly number[] = [],
): Promise<SettleResult> {
  const result = await store.settle(item, settlement, clock.now());
  const { receiptId, partnerId, path } = item;
  const { outcome, lastError: code } = settlement;
  if (result === 'settled') reporter.settled({ receiptId, partnerId, path, outcome, code, issues });
  return result;
}
