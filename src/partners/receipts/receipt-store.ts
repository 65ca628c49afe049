import type { AuditEntry } from '#shared/audit.ts';
import type {
  EventNote,
  Outcome,
  PartnerPath,
  Receipt,
  ReceiptDetail,
  ReceiptStatus,
  ReceiptSummary,
} from './receipt.ts';
import type { MatchName } from '#leads/directory/match.ts';
import type { Action } from '../partner.ts';

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
 * What a repeat sets going: `nothing` for a redelivery; `queue` works the event as if it had just come,
 * `again` has one that still waits, or is worked on, looked at anew.
 */
export type RepeatEffect = 'nothing' | 'queue' | 'again';

/**
 * An event without an id may be a new request with the same bytes, also while the first one waits; one
 * that ended without effect gets another chance; all else is a redelivery. `before`: what became of it
 * so far.
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
  /** Why it is REJECTED: a code. */
  lastError?: string;
  /** What it names, for the leads to be claimed with it; nothing unless it is PENDING. */
  names: readonly MatchName[];
  /** Of a deletion: what it does to a lead that is learnt while it stands. */
  actions?: readonly Action[];
  /** Whoever is known by one of `from`, now or later, is known by `to` as well: hashes of external ids. */
  merge?: { from: readonly Buffer[]; to: Buffer };
  /** The event's bytes as they came. Kept encrypted, and only while they are of use. */
  payload: Buffer;
};

/** A delivery that is verified and read, ready to be written down. */
export type NewReceipt = Omit<Receipt, 'status'> & {
  path: PartnerPath;
  /** W3C, of the span that takes it: the worker's spans go below it. */
  traceparent?: string;
  /**
   * When a lead was created at the latest that its events can mean, by the tracker's clock; ms since the Unix
   * epoch.
   */
  createdBefore: number;
  events: readonly NewEvent[];
};

export type Acceptance = {
  /** `repeat`: every event came before, and `receipt` is the first original. */
  kind: 'accepted' | 'repeat';
  receipt: Receipt;
  /** Events that wait for the worker because of this delivery. */
  queued: number;
  /** The events that were written now: those that did not come before. */
  written: readonly Pick<NewEvent, 'outcome' | 'lastError'>[];
};

/** Every condition that is given must hold. */
export type ReceiptFilter = {
  partnerId?: string;
  status?: ReceiptStatus;
  correlationId?: string;
  /** One event has it, and the four below when they are given too. */
  outcome?: Outcome;
  eventId?: string;
  externalId?: string;
  /** Number of an issue that the event has matched. */
  leadId?: number;
  /** Nobody has acknowledged the event. */
  isAcknowledged?: false;
  /** Received at or after this instant; milliseconds since the Unix epoch. */
  since?: number;
  /** Received before this instant; milliseconds since the Unix epoch. */
  before?: number;
};

/** What a replay did, in numbers of events. */
export type ReplayResult = {
  queued: number;
  /** Those it left as they are, by outcome. UNMATCHED and FAILED ones have lost their payload. */
  left: Partial<Record<Outcome, number>>;
};

/** What a replay would do, in numbers of events. */
export type ReplayPreview = {
  /** Those that can be worked again: UNMATCHED and FAILED ones. */
  queued: Partial<Record<Outcome, number>>;
  /** Those of the same outcomes that have lost their payload. */
  left: Partial<Record<Outcome, number>>;
};

/** How many events of one outcome have their payload, or have lost it. */
export type DeadLetterCount = { outcome: Outcome; isKept: boolean; count: number };

/** A preview from what a store counts. */
export function toReplayPreview(counts: readonly DeadLetterCount[]): ReplayPreview {
  const of = (isKept: boolean): Partial<Record<Outcome, number>> =>
    Object.fromEntries(
      counts.filter((one) => one.isKept === isKept).map(({ outcome, count }) => [outcome, count]),
    );
  return { queued: of(true), left: of(false) };
}

type ReceiptPage = {
  receipts: readonly ReceiptSummary[];
  /** Position of the last receipt here; there exactly when more follow. */
  next?: number;
};

/** Port: receipts and their events. */
export type ReceiptStore = {
  /**
   * Writes the receipt and its events in one transaction and resolves once it is durable on disk.
   * The same transaction claims every lead that the directory knows by what the events name, and one
   * that a lead id names also when it is not known: from then on no reader sees it, and the worker
   * takes back what turns out wrong. A deletion stands: what the directory learns of whom it names, until the first
   * full crawl that began later has ended, and for a day at least, is claimed and acted on by the same event. Merges count from the same transaction on, for the events beside
   * them, too. An event whose id came before with another person is noted so.
   * Events that came before are not written again; those that ended UNMATCHED or FAILED, and those
   * without an id that are settled, are queued once more; what an operator had released may then be
   * claimed again. The receipt is as it was in the first response.
   * @throws {store-unavailable} and then nothing was accepted
   */
  accept(delivery: NewReceipt): Promise<Acceptance>;
  /** Newest first, from behind `after` when it is given. @throws {store-unavailable} */
  list(filter: ReceiptFilter, limit: number, after?: number): Promise<ReceiptPage>;
  /** @throws {store-unavailable} */
  read(id: string): Promise<ReceiptDetail | undefined>;
  /**
   * Queues the UNMATCHED and FAILED events of one receipt again, due at `entry.at`. Those whose
   * payload was dropped stay. What ended for a claim that an operator had released may claim again.
   * When there were any, the entry goes into the audit log with the number added to its changes.
   * Undefined: no such receipt. @throws {store-unavailable}
   */
  replay(id: string, entry: AuditEntry): Promise<ReplayResult | undefined>;
  /**
   * The same for every receipt that the filter finds, but what was released stays so. `left` counts
   * only what lost its payload. @throws {store-unavailable}
   */
  replayAll(filter: ReceiptFilter, entry: AuditEntry): Promise<ReplayResult>;
  /**
   * Acknowledges the UNMATCHED and REJECTED events of one receipt that nobody has acknowledged, and
   * returns how many; with the audit entry as above. Undefined: no such receipt. @throws {store-unavailable}
   */
  acknowledge(id: string, entry: AuditEntry): Promise<number | undefined>;
  /** What `replayAll` would do now. @throws {store-unavailable} */
  previewReplay(filter: ReceiptFilter): Promise<ReplayPreview>;
  /**
   * Forgets same-event keys first seen, and drops payloads of events settled, before `before`
   * (milliseconds since the Unix epoch); returns how many of each. @throws {store-unavailable}
   */
  purge(before: number): Promise<{ keys: number; payloads: number }>;
};
