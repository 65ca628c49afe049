import type { Sealer } from '#shared/crypto/sealer.ts';
import { codesOf } from '#shared/outcomes/entry.ts';
import {
  type eventReasons,
  erasureStates,
  eventOutcomes,
  type eventNotes,
  receiptStates,
} from '#shared/outcomes/events.ts';

export const partnerPaths = ['events', 'deletions'] as const;

/** Which of a partner's two addresses a delivery came to. */
export type PartnerPath = (typeof partnerPaths)[number];

/** True for what claims the leads that it names; false for an event that a rule is for. */
export function isDeletion({ path }: { path: PartnerPath }): boolean {
  return path === 'deletions';
}

/** Of an identifier of an event, as receipts store it: longer ones serve for matching alone. */
export const IDENTIFIER_CHARACTERS_MAX = 255;

export const outcomes = codesOf(eventOutcomes);

export type Outcome = keyof typeof eventOutcomes;

export const receiptStatuses = codesOf(receiptStates);

/** Decided by `statusesByOutcome`. */
export type ReceiptStatus = keyof typeof receiptStates;

/** The first status counts of which an event has one of the outcomes; without any it is PROCESSED. */
export const statusesByOutcome: readonly [ReceiptStatus, readonly Outcome[]][] = [
  ['ACCEPTED', ['PENDING']],
  ['FAILED', ['FAILED']],
  ['UNMATCHED', ['UNMATCHED', 'REJECTED']],
];

export const erasures = codesOf(erasureStates);

/** Completeness of the erasure by the strongest action that succeeded. */
export type Erasure = keyof typeof erasureStates;

/** Parts of an issue in which data of a person can be left, in the order of receipts. */
export const remainders = ['text', 'history', 'comments', 'fields', 'sub-issues'] as const;

/** `text`: title and body. `fields`: typed ones with a text, number or date. */
export type Remainder = (typeof remainders)[number];

/** Of a reader's concern besides the outcome; the last one counts. */
export type EventNote = keyof typeof eventNotes;

/** The record of one accepted delivery. Holds identifiers, never other data of a person. */
export type Receipt = {
  /** A UUID. */
  id: string;
  partnerId: string;
  /** The event's own, `partner.event`, `lead.deletion`, or `batch` for several kinds. */
  eventType: string;
  /** Absent for a batch of several, and for one that is an e-mail address. */
  externalId?: string;
  correlationId: string;
  status: ReceiptStatus;
  /** Milliseconds since the Unix epoch. */
  receivedAt: number;
};

/** One with an event that waits to be matched, for which it has to be read. */
export type LostReceipt = Pick<Receipt, 'id' | 'partnerId' | 'receivedAt'>;

export const nameKinds = ['lead-id', 'correlation-id', 'external-id', 'email'] as const;

/** By what an event looks for its lead. */
export type NameKind = (typeof nameKinds)[number];

export const stepKinds = [
  'missed',
  'matched',
  'failed',
  'ended',
  'repeated',
  'replayed',
  'late-lead',
  'released',
  'acknowledged',
] as const;

/** Effect of a rule on an issue, without the text of its comment. */
export type RuleEffect = {
  addLabels: readonly string[];
  removeLabels: readonly string[];
  /** Logins. */
  assign: readonly string[];
  state?: 'open' | 'closed';
  setFields?: readonly { name: string; value: string | number | readonly string[] }[];
  comments: boolean;
};

/**
 * One thing that happened to an event. `missed`: a look found nobody. `failed`: an attempt. `ended`: how it had ended before it was
 * worked again. `repeated`: the partner sent it again.
 */
export type EventStep = {
  /** Milliseconds since the Unix epoch. */
  at: number;
  what: (typeof stepKinds)[number];
  /** With `ended`: the former outcome. */
  outcome?: Outcome;
  /** Why: one of `eventReasons`. */
  code?: string;
  /** Subject of the actor that replayed, released or acknowledged it. */
  by?: string;
  /** Which lead was released. */
  leadId?: string;
  /** With `matched`: what the rule for the event does. Only people are shown it. */
  effect?: RuleEffect;
};

/** So many steps of an event are kept, the newest. */
export const STEPS_MAX = 50;

/** One event as its receipt shows it. */
type ReceiptEvent = {
  /** As it was sent. */
  eventType?: string;
  eventId?: string;
  externalId?: string;
  outcome: Outcome;
  erasure?: Erasure;
  /** Left on the issues, as far as that is known; never empty. */
  remains?: readonly Remainder[];
  note?: EventNote;
  /** By what it looks for its lead, in this order; never the values. None where that is not known. */
  names: readonly NameKind[];
  /** Numbers of the matched issues, as text. */
  leadIds: readonly string[];
  /** Tries so far, the one that succeeded among them. */
  attempts: number;
  /** One of `eventReasons`. */
  lastError?: string;
  /** Time of its end; milliseconds since the Unix epoch. */
  completedAt?: number;
  /** Time at which an operator acknowledged that it came to nothing; milliseconds since the Unix epoch. */
  acknowledgedAt?: number;
  /** Oldest first. */
  history: readonly EventStep[];
};

/** A receipt as a list shows it. */
export type ReceiptSummary = Receipt & {
  path: PartnerPath;
  /** Number of events by outcome, without those that none has. */
  outcomes: Partial<Record<Outcome, number>>;
  /** The earliest time at which a PENDING event is due; milliseconds since the Unix epoch. */
  nextDueAt?: number;
};

/** An event as an operator works with it. */
export type ReceiptEventDetail = ReceiptEvent & {
  /** In the delivery, from 0; repeats leave gaps. */
  position: number;
  /** Time of its next step, while it is PENDING; milliseconds since the Unix epoch. */
  dueAt?: number;
  /** It ended UNMATCHED or FAILED, and what it said is still there. */
  isReplayable: boolean;
  /** Its leads are hidden until its match is certain, and may turn out to be others. */
  isProvisional: boolean;
};

/** An event of a batch that came before, there or in another delivery: where it stood, and whose it is. */
export type RepeatedEvent = {
  /** In the delivery, from 0. */
  position: number;
  /** The receipt that says what becomes of it. */
  receiptId: string;
};

export type ReceiptDetail = Receipt & {
  path: PartnerPath;
  /** Events of the delivery that have no place among these, since they came before; absent: none. */
  repeats?: readonly RepeatedEvent[];
  events: readonly ReceiptEventDetail[];
};

/** The status of a receipt with events of these outcomes. */
export function statusOf(outcomesOfEvents: readonly Outcome[]): ReceiptStatus {
  const isAmong = (outcome: Outcome): boolean => outcomesOfEvents.includes(outcome);
  const decisive = statusesByOutcome.find(([, deciding]) => deciding.some(isAmong));
  return decisive?.[0] ?? 'PROCESSED';
}

export type EventErrorCode = keyof typeof eventReasons;

/** Why the event ended as it did, or why its last attempt failed. What is ignored for its type has no code of its own. */
export function whyOf(
  path: PartnerPath,
  { outcome, lastError }: { outcome: Outcome; lastError?: string },
): string | undefined {
  if (outcome !== 'IGNORED' || lastError !== undefined) return lastError;
  return isDeletion({ path }) ? 'type-not-listed' : 'no-rule';
}

/** True when typed fields stay as they were, since the credential may not clear them. */
export function leftFields({ outcome, lastError }: ReceiptEvent): boolean {
  return outcome === 'DONE' && lastError === 'fields-remain';
}

type Erased = Pick<ReceiptEventDetail, 'erasure' | 'remains' | 'completedAt'>;

/** Erasure as it may be told: nothing while the event is open, whatever it had come to before. */
export function toldErasure({
  completedAt,
  erasure,
  remains,
}: Erased): Pick<Erased, 'erasure' | 'remains'> {
  return completedAt === undefined ? {} : { erasure, remains };
}

type EventPlace = { receiptId: string; position: number };

/** Binds an event's payload to its place: elsewhere it cannot be opened. */
export function payloadIdentity(receiptId: string, position: number): string {
  return `${receiptId}/${position}`;
}

/** Binds the digest of its bytes to its place. */
export function digestIdentity(receiptId: string, position: number): string {
  return `${receiptId}/${position}/digest`;
}

/** The bytes of an event; undefined when they were sealed under another secret key. */
export function openPayload(
  sealer: Sealer,
  { receiptId, position }: EventPlace,
  sealed: Buffer,
): Buffer | undefined {
  return openOrUndefined(sealer, payloadIdentity(receiptId, position), sealed);
}

/** The digest of an event's bytes, likewise. */
export function openDigest(
  sealer: Pick<Sealer, 'open'>,
  { receiptId, position }: EventPlace,
  sealed: Buffer,
): Buffer | undefined {
  return openOrUndefined(sealer, digestIdentity(receiptId, position), sealed);
}

function openOrUndefined(
  sealer: Pick<Sealer, 'open'>,
  identity: string,
  sealed: Buffer,
): Buffer | undefined {
  try {
    return sealer.open(identity, sealed);
  } catch {
    return undefined;
  }
}
