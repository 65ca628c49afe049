import { traced, type Tracing } from '#shared/tracing.ts';
import type { EventProgress } from './progress.ts';
import type {
  Erasure,
  EventErrorCode,
  EventNote,
  Outcome,
  PartnerPath,
  Remainder,
} from '../receipts/receipt.ts';

/** An event's way: first it is matched with leads, which a deletion claims, then the issues are changed. */
export type Stage = EventProgress['stage'];

/** One event that this worker may work on, until the lease ends. */
export type WorkItem<P extends EventProgress = EventProgress> = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  partnerId: string;
  path: PartnerPath;
  /** In the delivery, from 0. */
  position: number;
  /** When the delivery was received: ms since the Unix epoch. */
  receivedAt: number;
  /** The span of the delivery that asked for it, where that was traced. */
  traceparent?: string;
  /** When a lead was created at the latest that it can mean, by the tracker's clock: ms since the Unix epoch. */
  createdBefore: number;
  /** Since when it is due: for an event without progress, when it was asked for. */
  dueAt: number;
  /** Tries that have failed so far. */
  attempts: number;
  /** The event's bytes; undefined when they are gone or cannot be decrypted. */
  payload?: Buffer;
  progress?: P;
  /** Fencing token: every write names it, and changes nothing when another worker took over. */
  lease: string;
};

/** How an event ends. */
export type Settlement = {
  outcome: Extract<Outcome, 'DONE' | 'UNMATCHED' | 'IGNORED' | 'FAILED'>;
  erasure?: Erasure;
  remains?: readonly Remainder[];
  /** Replaces the one that the event has; without it that one stays. */
  note?: EventNote;
  lastError?: EventErrorCode;
  /** The one that succeeded among them. */
  attempts: number;
};

/**
 * `again`: it is not settled, for it came once more meanwhile and is matched anew. `lost`: another
 * worker has it.
 */
export type SettleResult = 'settled' | 'again' | 'lost';

/** Work that is left, for `/readyz` and metrics. */
export type WorkCounts = {
  /** Events that wait or are worked on. */
  open: number;
  /** Since when the oldest of them waits: its delivery, or its replay; ms since the Unix epoch. */
  oldestAskedAt?: number;
  /** Events that ended FAILED. */
  deadLetters: number;
  /** Of events that wait for a process whose configuration has their partner. */
  lackedPartners: readonly string[];
};

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
