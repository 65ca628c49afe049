import type { MatchName } from '#leads/directory/match.ts';
import type { Action } from '../partner.ts';
import type {
  EventNote,
  Outcome,
  PartnerPath,
  Receipt,
  RepeatedEvent,
} from '../receipts/receipt.ts';

/** Keyed hashes by which an event is known again. */
export type EventKeys = {
  /** Of all that makes two events the same. */
  sameEventKey: Buffer;
  /** There when the event has an id of its own. */
  idKeys?: EventIdKeys;
};

/** By these it is noticed that an event id comes again with another person. */
export type EventIdKeys = {
  /** Of the id and where it counts: partner, path, account and type. */
  id: Buffer;
  /** Of all that names the person. */
  person: Buffer;
};

/**
 * The effect of a repeat: `nothing` for a redelivery; `queue` works the event as if it had just come,
 * `again` has one that still waits, or is worked on, looked at anew.
 */
export type RepeatEffect = 'nothing' | 'queue' | 'again';

/**
 * An event without an id may be a new request with the same bytes, also while the first one waits; one
 * that ended without effect gets another chance; all else is a redelivery. `before`: its outcome so far.
 */
export function effectOfRepeat(
  event: Pick<EventKeys, 'idKeys'> & { outcome: Outcome },
  before: Outcome,
): RepeatEffect {
  const isRedelivery = event.idKeys !== undefined && (before === 'PENDING' || before === 'DONE');
  if (event.outcome !== 'PENDING' || isRedelivery) return 'nothing';
  return before === 'PENDING' ? 'again' : 'queue';
}

/**
 * An event as it is first written down. Without an id of its own (`idKeys`) a repeat may be a new
 * request.
 */
export type NewEvent = EventKeys & {
  /** In the delivery, from 0. */
  position: number;
  eventType?: string;
  eventId?: string;
  externalId?: string;
  outcome: Extract<Outcome, 'PENDING' | 'DONE' | 'IGNORED' | 'REJECTED'>;
  note?: EventNote;
  /** Code of the reason for which it is REJECTED. */
  lastError?: string;
  /** Its names, for the leads to be claimed with it; none unless it is PENDING. */
  names: readonly MatchName[];
  /** Of a deletion: what it does to a lead that is learnt while it stands. */
  actions?: readonly Action[];
  /** Whoever is known by one of `from`, now or later, is known by `to` as well: hashes of external ids. */
  merge?: { from: readonly Buffer[]; to: Buffer };
  /** Of one that an operator brings in: in place of the delivery's, if it is earlier. */
  createdBefore?: number;
  /** The event's bytes as they came. Kept encrypted, and only while they are of use. */
  payload: Buffer;
  /** SHA-256 of the event as the partner sent it: of the whole body, or of its element of a batch. */
  digest: Buffer;
};

/** A delivery that is verified and read, ready to be written down. */
export type NewReceipt = Omit<Receipt, 'status'> & {
  path: PartnerPath;
  /** W3C, of the span that takes it: the worker's spans go below it. */
  traceparent?: string;
  /**
   * Latest time of creation of a lead that its events can mean, by the tracker's clock; ms since the Unix
   * epoch.
   */
  createdBefore: number;
  events: readonly NewEvent[];
};

/** An event as it was first accepted. */
export type SameEvent = {
  event: number;
  receipt: number;
  receiptId: string;
  receivedAt: number;
  position: number;
  outcome: Outcome;
};

export type Repeat = { event: NewEvent; before: SameEvent };

/** A receipt, its events split by what the store knows of them. */
export type SplitReceipt = {
  receipt: NewReceipt;
  /** Written under this receipt: those that did not come before. */
  written: NewEvent[];
  repeats: Repeat[];
  /** All that are not new: each came before, or stands twice in the delivery. */
  known: RepeatedEvent[];
};

export type Acceptance = {
  /** `repeat`: every event came before, and `receipt` is the first original. */
  kind: 'accepted' | 'repeat';
  receipt: Receipt;
  /** Events that wait for the worker because of this delivery. */
  queued: number;
  /** @see SplitReceipt */
  written: readonly NewEvent[];
};
