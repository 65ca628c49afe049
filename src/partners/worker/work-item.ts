/** An event in the hands of a worker, and the span of each step on it. */
import { traced, type Tracing } from '#shared/tracing.ts';
import type { EventProgress } from '../receipts/event-progress.ts';
import { isDeletion, type PartnerPath } from '../receipts/receipt.ts';

/** One event that this worker may work on, until the lease ends. */
export type WorkItem<P extends EventProgress = EventProgress> = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  partnerId: string;
  path: PartnerPath;
  /** In the delivery, from 0. */
  position: number;
  /** Receipt of the delivery; ms since the Unix epoch. */
  receivedAt: number;
  /** The span of the delivery that asked for it, where that was traced. */
  traceparent?: string;
  /** Latest creation of a lead that it can mean, by the tracker's clock; ms since the Unix epoch. */
  createdBefore: number;
  /** Since when it is due: for an event without progress, when it was asked for. */
  dueAt: number;
  /** Tries that have failed so far. */
  attempts: number;
  /** The event's bytes; undefined when they are gone or cannot be decrypted. */
  payload?: Buffer;
  progress?: P;
  /** Fencing token: every write names it, and changes nothing when another worker took over. */
  leaseToken: string;
};

/** Runs one step on an event in a span below the delivery that asked for it; `verb` is what it does. */
export function traceStep<T>(
  tracing: Tracing | undefined,
  verb: 'match' | 'act on',
  item: Pick<WorkItem, 'path' | 'receiptId' | 'traceparent'>,
  work: Parameters<typeof traced<T>>[2],
): Promise<T> {
  const options = {
    name: `${verb} ${isDeletion(item) ? 'deletion' : 'event'}`,
    kind: 'consumer',
    parent: item.traceparent,
    attributes: { 'trackport.receipt_id': item.receiptId },
  } as const;
  return traced(tracing, options, work);
}
