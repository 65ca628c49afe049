import type { Clock } from '#shared/clock.ts';
import { traced, type Tracing } from '#shared/tracing.ts';
import type { OutcomeReporter } from '../receipts/report-outcomes.ts';
import type { Settlement, SettleResult, WorkItem, WorkStore } from './work-store.ts';

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

/** Runs one step on an event in a span below the delivery that asked for it; `verb` is what it does. */
export function traceStep<T>(
  tracing: Tracing | undefined,
  verb: 'match' | 'act on',
  { path, receiptId, traceparent }: Pick<WorkItem, 'path' | 'receiptId' | 'traceparent'>,
  work: Parameters<typeof traced<T>>[2],
): Promise<T> {
  const options = {
    name: `${verb} ${path === 'events' ? 'event' : 'deletion'}`,
    kind: 'consumer',
    parent: traceparent,
    attributes: { 'trackport.receipt_id': receiptId },
  } as const;
  return traced(tracing, options, work);
}
