export const partnerPaths = ['events', 'deletions'] as const;

/** Which of a partner's two addresses a delivery came to. */
export type PartnerPath = (typeof partnerPaths)[number];

/** Of an identifier of an event, as receipts store it: longer ones serve for matching alone. */
export const IDENTIFIER_CHARACTERS_MAX = 255;

export const outcomes = ['PENDING', 'DONE', 'UNMATCHED', 'IGNORED', 'REJECTED', 'FAILED'] as const;

/** What became of one event. Everything but PENDING is settled; FAILED needs a person. */
export type Outcome = (typeof outcomes)[number];

export const receiptStatuses = ['ACCEPTED', 'PROCESSED', 'UNMATCHED', 'FAILED'] as const;

/**
 * ACCEPTED while an event is PENDING, then FAILED when one ended so, UNMATCHED when one found nobody
 * or named nobody (UNMATCHED, REJECTED), else PROCESSED.
 */
export type ReceiptStatus = (typeof receiptStatuses)[number];

/** From the best to the worst. */
export const erasures = ['complete', 'incomplete-history', 'impossible'] as const;

/** How complete the strongest action that succeeded has erased the person's data. */
export type Erasure = (typeof erasures)[number];

/** What of a person can be left where it was. */
export const remainders = ['fields'] as const;

export const eventNotes = [
  'event-id-reused',
  'lead-id-conflict',
  'claim-released',
  'merged',
] as const;

/**
 * What a reader of the receipt should know besides the outcome; the last one counts.
 * `event-id-reused`: the event's id came before with another person. `lead-id-conflict`: the lead
 * that the event names belongs to another person than the event does, or got its number after the
 * event came, and was left alone.
 * `claim-released`: an operator gave a lead of the event back. `merged`: people whom the partner made
 * one are known by the id that is left.
 */
export type EventNote = (typeof eventNotes)[number];

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
export type UnreadReceipt = Pick<Receipt, 'id' | 'partnerId' | 'receivedAt'>;

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

/** What a rule does for an event, without the text of its comment. */
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
  /** How it had ended. */
  outcome?: Outcome;
  /** Why: one of `eventErrors`. */
  code?: string;
  /** Who replayed, released or acknowledged it: the actor's subject. */
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
  note?: EventNote;
  /** By what it looks for its lead, in this order; never the values. None where that is not known. */
  names: readonly NameKind[];
  /** Numbers of the matched issues, as text. */
  leadIds: readonly string[];
  /** Tries so far, the one that succeeded among them. */
  attempts: number;
  /** One of `eventErrors`. */
  lastError?: string;
  /** When it was settled: milliseconds since the Unix epoch. */
  completedAt?: number;
  /** When an operator acknowledged that it came to nothing: milliseconds since the Unix epoch. */
  acknowledgedAt?: number;
  /** What happened to it, oldest first. */
  history: readonly EventStep[];
};

/** A receipt as a list shows it. */
export type ReceiptSummary = Receipt & {
  path: PartnerPath;
  /** How many of its events have each outcome; those that none has are left out. */
  outcomes: Partial<Record<Outcome, number>>;
  /** When the next of its events that are PENDING is due: milliseconds since the Unix epoch. */
  nextDueAt?: number;
};

/** An event as an operator works with it. */
export type ReceiptEventDetail = ReceiptEvent & {
  /** In the delivery, from 0; repeats leave gaps. */
  position: number;
  /** When it is worked on next, while it is PENDING: milliseconds since the Unix epoch. */
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
  if (outcomesOfEvents.includes('PENDING')) return 'ACCEPTED';
  if (outcomesOfEvents.includes('FAILED')) return 'FAILED';
  const hasMissed = outcomesOfEvents.some((one) => one === 'UNMATCHED' || one === 'REJECTED');
  return hasMissed ? 'UNMATCHED' : 'PROCESSED';
}

/**
 * Why an event ended as it did, or why its last attempt failed, by the code that its receipt shows.
 * More may come: whoever reads them must take one that it does not know.
 */
export const eventErrors = {
  'not-an-object': 'the element of the batch is no JSON object',
  'names-nobody': 'the event names nobody, or the merge no ids',
  'too-many-ids': 'the merge names more than 250 ids',
  'claim-released': 'an operator gave the lead back',
  'no-rule': 'no rule of the configuration is for its type',
  'type-not-listed': 'its type is none of those that delete',
  'lead-claimed': 'a deletion has claimed the lead that the event names',
  'partner-unknown': 'the configuration of the process that works lacks the partner',
  'payload-unreadable': 'the event cannot be read any more: another `secretKey`, or other `fields`',
  'repository-changed': 'it holds leads of another repository than the configured one',
  transferred: 'the issue was moved to another repository',
  'pull-request': 'the number is that of a pull request',
  'no-issue': 'the tracker has no issue with the number',
  locked: 'the issue takes no comments',
  'too-many-comments': 'the issue has too many comments to look for ours',
  refused: 'the tracker understood the write and refused it (422)',
  forbidden: 'the tracker does not let us write (403)',
  unauthorized: 'the tracker refuses the credential (401)',
  'version-retired': 'the tracker does not take our version of its API any more (410)',
  'repository-missing': 'the repository cannot be seen',
  'issues-disabled': 'issues are switched off',
  'not-found': 'the issue is not found by its number, or was not just now',
  'not-applied': 'the issue does not show what was written',
  'labels-dropped': 'the tracker dropped the labels in silence',
  'fields-refused': 'the credential may not set or clear typed fields, perhaps for a while only',
  'fields-remain': 'typed fields still hold what they held: the credential may not clear them',
  'field-unknown':
    'the tracker has no typed field that the rule names, or does not show it to the credential',
  'delete-refused': 'the issue may not be deleted, perhaps for a while only',
  'not-deleted': 'the issue is still there after it was deleted',
  'tracker-limited': 'a rate limit of the tracker is in force',
  'tracker-timeout': 'the tracker did not respond in time',
  'tracker-network': 'the tracker could not be reached',
  'tracker-server': 'the tracker failed (5xx)',
  'tracker-nonsense': 'the tracker’s response cannot be understood',
  'tracker-invalid': 'the tracker refused the request (another 4xx)',
  server: 'the tracker failed while it deleted the issue',
  'internal-error': 'a mistake of ours; the log has it',
} as const;

export type EventErrorCode = keyof typeof eventErrors;

/** Why the event ended as it did, or why its last attempt failed. What is ignored for its type has no code of its own. */
export function whyOf(
  path: PartnerPath,
  { outcome, lastError }: { outcome: Outcome; lastError?: string },
): string | undefined {
  if (outcome !== 'IGNORED' || lastError !== undefined) return lastError;
  return path === 'events' ? 'no-rule' : 'type-not-listed';
}

/** What the event has left where it was, since the tracker did not let it be taken away. */
export function remainsOf({
  outcome,
  lastError,
}: {
  outcome: Outcome;
  lastError?: string;
}): readonly (typeof remainders)[number][] | undefined {
  return outcome === 'DONE' && lastError === 'fields-remain' ? ['fields'] : undefined;
}

export const eventErrorCodes = Object.keys(eventErrors) as [EventErrorCode, ...EventErrorCode[]];
