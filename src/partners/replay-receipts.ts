import type { Actor } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import { refuseReceipt } from './read-receipts.ts';
import type { ReceiptFilter, ReceiptStore } from './receipt-store.ts';

export type ReplayDeps = {
  store: Pick<ReceiptStore, 'replay' | 'replayAll'>;
  clock: Pick<Clock, 'now'>;
  /** Called when events wait because of the replay. */
  wakeWorker: () => void;
};

/** Who asks, for the audit log. */
export type ReplayOrigin = { actor: Actor; requestId?: string };

/** How many events wait for the worker now. */
export type Replayed = { queued: number };

/**
 * Has the events of one receipt that ended UNMATCHED or FAILED worked again, from the start.
 * @throws {not-found} @throws {store-unavailable}
 */
export async function replayReceipt(
  { store, clock, wakeWorker }: ReplayDeps,
  id: string,
  origin: ReplayOrigin,
): Promise<Replayed> {
  const entry = { ...origin, at: clock.now(), action: 'receipt.replay', subject: `receipt/${id}` };
  const queued = (await store.replay(id, entry)) ?? refuseReceipt();
  if (queued > 0) wakeWorker();
  return { queued };
}

/** The same for every receipt that the filter finds. @throws {store-unavailable} */
export async function replayReceipts(
  { store, clock, wakeWorker }: ReplayDeps,
  filter: ReceiptFilter,
  origin: ReplayOrigin,
): Promise<Replayed> {
  const queued = await store.replayAll(filter, {
    ...origin,
    at: clock.now(),
    action: 'receipt.replay',
    subject: 'receipts',
    changes: { ...filter },
  });
  if (queued > 0) wakeWorker();
  return { queued };
}
