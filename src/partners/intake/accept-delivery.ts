import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { hashIdentity } from '#leads/directory/lead-directory.ts';
import { emailsIn, externalIdIn } from '#leads/model/identity.ts';
import { type Clock, MINUTE } from '#shared/clock.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { isLoggableId, type NewId } from '#shared/ids.ts';
import { hasAddress } from '#shared/text/at-sign.ts';
import { traced, type Tracing } from '#shared/tracing.ts';
import {
  actionsFor,
  decide,
  type EventKeys,
  eventKeys,
  namesOf,
  occurredAt,
  type PartnerEvent,
} from '../event.ts';
import { type MatchName, toMatchNames } from '#leads/directory/match.ts';
import type { Action, Partner } from '../partner.ts';
import { isArray, type ReadDelivery } from '../read-delivery.ts';
import {
  type EventNote,
  IDENTIFIER_CHARACTERS_MAX,
  isDeletion,
  type Outcome,
  type PartnerPath,
  type Receipt,
} from '../receipts/receipt.ts';
import type { OutcomeReporter } from '../receipts/report-outcomes.ts';

/** One verified request. */
export type Delivery = {
  partner: Partner;
  path: PartnerPath;
  /** The raw bytes that the signature covers. */
  body: Buffer;
  /** Value of `X-Correlation-Id`; ignored unless `isLoggableId`. */
  correlationId?: string;
  /** The id that the headers give the message, signed: that of events that have none. */
  messageId?: string;
  /** An operator brings it in: its events count from when they happened. */
  isImported?: true;
  /** Aborted when the partner hangs up. */
  signal?: AbortSignal;
};

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

export type Acceptance = {
  /** `repeat`: every event came before, and `receipt` is the first original. */
  kind: 'accepted' | 'repeat';
  receipt: Receipt;
  /** Events that wait for the worker because of this delivery. */
  queued: number;
  /** Those that did not come before. */
  written: readonly NewEvent[];
};

/** Writes a delivery down and resolves once it is durable: `createReceiptWriter` says what else is done with it. */
export type WriteReceipt = (receipt: NewReceipt) => Promise<Acceptance>;

/** The way of deliveries into the store. */
export type Intake = {
  writeReceipt: WriteReceipt;
  readDelivery: ReadDelivery;
  clock: Pick<Clock, 'now'>;
  /** Latest time of creation of a lead of this moment, by the tracker's clock; ms since the Unix epoch. */
  latestCreation: () => number;
  newId: NewId;
  /** Key of the hashes by which a repeat and a lead are known: the `directory` sub-key. */
  directoryKey: KeyObject;
  /** Called after the commit when events wait for the worker. */
  wakeWorker: () => void;
  reporter: Pick<OutcomeReporter, 'settled'>;
  tracing?: Tracing;
};

/**
 * Accepts a delivery of a partner: one receipt for it, one outcome per event, durable when it returns. An
 * event that cannot be used becomes an outcome; only the body as a whole can be refused.
 * @throws {malformed-json} @throws {validation-failed} the body is no object and no array
 * @throws {payload-too-large} more than 500 events
 * @throws {store-unavailable} @throws {overloaded} nothing was accepted
 */
export async function acceptDelivery(intake: Intake, delivery: Delivery): Promise<Acceptance> {
  const receipt = await toReceipt(intake, delivery);
  const commit = { name: 'commit delivery' };
  const acceptance = await traced(intake.tracing, commit, () => intake.writeReceipt(receipt));
  if (acceptance.queued > 0) intake.wakeWorker();
  reportSettled(intake.reporter, receipt, acceptance);
  return acceptance;
}

/** Each may name hundreds of people. */
const EVENTS_PER_TURN = 25;

/** A delivery as it can be written down. Throws as `acceptDelivery` does for what is in it. */
export async function toReceipt(
  intake: Omit<Intake, 'writeReceipt' | 'wakeWorker' | 'reporter'>,
  delivery: Delivery,
): Promise<NewReceipt> {
  const { partner, path, body, signal, messageId, isImported } = delivery;
  const read = await intake.readDelivery(body, partner.fields, signal);
  const events: NewEvent[] = [];
  const isBatch = isArray(body);
  for (const [position, { event: inBody, start, end }] of read.entries()) {
    const event = inBody && { eventId: messageId, ...inBody };
    const bytes = body.subarray(start, end);
    const digest = sha256(isBatch ? bytes : body);
    events.push({
      position,
      digest,
      ...toNewEvent(intake.directoryKey, delivery, event, bytes),
      ...(isImported && event && countedFrom(event)),
    });
    if (events.length % EVENTS_PER_TURN === 0) await setImmediate();
  }
  const traceparent = intake.tracing?.current();
  return {
    id: intake.newId(),
    partnerId: partner.id,
    path,
    ...summarize(delivery, events),
    correlationId: chooseCorrelationId(
      intake.newId,
      delivery,
      read.map(({ event }) => event),
    ),
    receivedAt: intake.clock.now(),
    createdBefore: intake.latestCreation(),
    traceparent,
    events,
  };
}

/** Of the partner's clock nothing is known: a minute in favour of the event. */
function countedFrom(event: PartnerEvent): Pick<NewEvent, 'createdBefore'> {
  const at = occurredAt(event);
  return at === undefined ? {} : { createdBefore: at + MINUTE };
}

/** Reports events that are settled with their acceptance, IGNORED and REJECTED, once for each reason. */
function reportSettled(
  reporter: Intake['reporter'],
  { id: receiptId, partnerId, path }: NewReceipt,
  { written }: Acceptance,
): void {
  const byReason = Map.groupBy(written, ({ outcome, lastError = '' }) => `${outcome} ${lastError}`);
  for (const [first, ...more] of byReason.values()) {
    if (!first || first.outcome === 'PENDING') continue;
    const { outcome, lastError: code } = first;
    reporter.settled({ receiptId, partnerId, path, outcome, code, events: more.length + 1 });
  }
}

function toNewEvent(
  directoryKey: KeyObject,
  { partner, path }: Delivery,
  event: PartnerEvent | undefined,
  bytes: Buffer,
): Omit<NewEvent, 'position' | 'digest'> {
  const decision = decide(partner, path, event);
  const eventType = event?.type.kind === 'named' ? shown(event.type.name) : undefined;
  const eventId = shown(event?.eventId);
  const externalId = shown(event?.externalId);
  return {
    eventType,
    eventId,
    externalId,
    ...eventKeys(directoryKey, { partnerId: partner.id, path }, event, bytes),
    outcome: decision.outcome,
    ...(decision.outcome === 'REJECTED' && { lastError: decision.reason }),
    ...(decision.outcome === 'DONE' && {
      note: decision.note,
      ...mergeOf(directoryKey, partner, event),
    }),
    names: [],
    ...(decision.outcome === 'PENDING' &&
      event && {
        names: toMatchNames(namesOf(partner.id, event), directoryKey),
        ...(isDeletion({ path }) && { actions: actionsFor(partner, event) }),
      }),
    payload: bytes,
  };
}

/** A person who is merged into herself stays who she is. */
function mergeOf(
  directoryKey: KeyObject,
  { id: partnerId }: Partner,
  event: PartnerEvent | undefined,
): Pick<NewEvent, 'merge'> {
  if (!event?.merge) return {};
  const hashesOf = (value: string): Buffer[] =>
    [externalIdIn(partnerId, value)].flatMap((id) => (id ? [hashIdentity(directoryKey, id)] : []));
  const [to] = hashesOf(event.merge.to);
  if (!to) return {};
  return {
    merge: { from: event.merge.from.flatMap(hashesOf).filter((hash) => !hash.equals(to)), to },
  };
}

/** Most identifiers: signs that no address can do without are none of these. */
const PLAIN = /^[\w.:/+-]*$/;

/**
 * An identifier as a receipt may keep it for good: undefined when it looks like an e-mail address, however
 * that is written, is longer than 255 characters or holds control characters.
 */
function shown(text: string | undefined): string | undefined {
  if (text === undefined || text.length > IDENTIFIER_CHARACTERS_MAX) return undefined;
  if (PLAIN.test(text)) return text;
  const isAddress = hasAddress(text) || emailsIn(text).length > 0;
  return isAddress || /[\p{Cc}\p{Cs}]/u.test(text) ? undefined : text;
}

const typeWithoutName: Record<PartnerPath, string> = {
  events: 'partner.event',
  deletions: 'lead.deletion',
};

function summarize(
  { path }: Delivery,
  events: readonly NewEvent[],
): Pick<NewReceipt, 'eventType' | 'externalId'> {
  const types = new Set(events.map(({ eventType }) => eventType ?? typeWithoutName[path]));
  const [type = typeWithoutName[path]] = types;
  const externalId = events.length === 1 ? events[0]?.externalId : undefined;
  return { eventType: types.size > 1 ? 'batch' : type, externalId };
}

/** The header's when it can be used, else that of the only event, else a new one. */
function chooseCorrelationId(
  newId: NewId,
  { correlationId }: Delivery,
  events: readonly (PartnerEvent | undefined)[],
): string {
  if (correlationId !== undefined && isLoggableId(correlationId)) return correlationId;
  const own = events.length === 1 ? shown(events[0]?.correlationId) : undefined;
  return own !== undefined && isLoggableId(own) ? own : newId();
}
