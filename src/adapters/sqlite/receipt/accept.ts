import type { Database as Handle } from 'better-sqlite3';
import type { EventIdKeys } from '#partners/event.ts';
import { payloadIdentity } from '#partners/receipts/payload.ts';
import type { PayloadSealer } from '#partners/receipts/payload.ts';
import { statusOf } from '#partners/receipts/receipt.ts';
import type { Outcome, Receipt } from '#partners/receipts/receipt.ts';
import type { Acceptance, NewEvent, NewReceipt } from '#partners/receipts/receipt-store.ts';
import { REFRESH_RECEIPT_STATUS } from './status.ts';
import { createAcceptanceClaims } from '../claims/claim-on-acceptance.ts';
import type { AcceptanceClaims } from '../claims/claim-on-acceptance.ts';
import { toLeadIds } from '../claims/claim-leads.ts';
import type { Connection } from '../connection.ts';
import { AS_NEW, KEPT_NOTE, START_AGAIN } from '../start-again.ts';

const INSERT_RECEIPT = `
  INSERT INTO receipt
    (id, partnerId, path, eventType, externalId, correlationId, status, receivedAt, traceparent)
  VALUES (@id, @partnerId, @path, @eventType, @externalId, @correlationId, @status, @receivedAt,
    @traceparent)`;

const INSERT_EVENT = `
  INSERT INTO event
    (receipt, position, eventType, eventId, externalId, outcome, note, leadIds, lastError, completedAt,
      payload, dueAt)
  VALUES (@receipt, @position, @eventType, @eventId, @externalId, @outcome, @note, @leadIds,
    @lastError, @completedAt, @payload, @dueAt)`;

const INSERT_SAME_EVENT = `
  INSERT INTO same_event (key, event, firstSeenAt, idKey, personKey)
  VALUES (@key, @event, @firstSeenAt, @id, @person)`;

/** Both ends are looked at in the index, however often the id came with the same person. */
const IS_ID_REUSED = `
  SELECT (SELECT min(personKey) FROM same_event WHERE idKey = +@id) <> @person
    OR (SELECT max(personKey) FROM same_event WHERE idKey = +@id) <> @person`;

/** Apart from `READ_SAME_EVENT`: most events are new, and a join that finds nothing is not cheap. */
const FIND_SAME_EVENT = `SELECT event FROM same_event WHERE key = ?`;

const READ_SAME_EVENT = `
  SELECT event.id AS event, event.receipt, event.position, event.outcome, receipt.id AS receiptId,
    event.leaseToken IS NOT NULL OR event.progress IS NOT NULL AS isBegun
  FROM event JOIN receipt ON receipt.number = event.receipt
  WHERE event.id = ?`;

const READ_ORIGINAL = `
  SELECT id, partnerId, eventType, externalId, correlationId, receivedAt
  FROM receipt WHERE number = ?`;

const QUEUE_AGAIN = `UPDATE event SET ${AS_NEW}, progress = NULL, dueAt = ?, payload = ? WHERE id = ?`;

/**
 * What an operator gave back is given back for the deliveries before: one that comes now is a new request.
 * Parameter: the event's id.
 */
const FORGET_RELEASES = `DELETE FROM claim WHERE event = ? AND releasedAt IS NOT NULL`;

const REFRESH_NOTE = `UPDATE event SET note = ${KEPT_NOTE} WHERE id = ? AND note IS NOT NULL`;

const SET_LEADS = `UPDATE event SET leadIds = ? WHERE id = ?`;

/** An event that a late lead has opened again has no payload any more: this one is as good. */
const MARK_AGAIN = `UPDATE event SET again = ?, payload = coalesce(payload, ?) WHERE id = ?`;

type SameEvent = {
  event: number;
  receipt: number;
  receiptId: string;
  position: number;
  outcome: Outcome;
  isBegun: 0 | 1;
};

export type DeliveryWriterDeps = {
  connection: Connection;
  sealer: PayloadSealer;
  /** `owner/name`, in any case. */
  repository: string;
};

type Writing = {
  handle: Handle;
  sealer: PayloadSealer;
  claims: AcceptanceClaims;
};

type OriginalRow = Omit<Receipt, 'status' | 'externalId'> & { externalId: string | null };

type Repeat = { event: NewEvent; before: SameEvent };

/**
 * Writes one delivery inside the caller's transaction: the events that are new under a receipt of
 * their own, and those that came before as what they request now.
 */
export function createDeliveryWriter({
  connection,
  sealer,
  repository,
}: DeliveryWriterDeps): (delivery: NewReceipt) => Acceptance {
  const { handle } = connection;
  const findSameEvent = createFinder(handle);
  const claims = createAcceptanceClaims(connection, repository);
  const insert = createInserter({ handle, sealer, claims });
  const workRepeat = createRepeatWorker({ handle, sealer, claims });
  const readOriginal = handle.prepare<[number], OriginalRow>(READ_ORIGINAL);

  return (delivery) => {
    const { fresh, repeats } = sortOut(delivery, findSameEvent);
    const queuedAgain = repeats.filter((repeat) => workRepeat(repeat, delivery.receivedAt)).length;
    const first = repeats[0];
    if (fresh.length === 0 && first) {
      const original = readOriginal.get(first.before.receipt);
      if (original)
        return { kind: 'repeat', receipt: asAccepted(original), queued: queuedAgain, written: [] };
    }
    insert(delivery, fresh);
    const queued = fresh.filter(({ outcome }) => outcome === 'PENDING').length + queuedAgain;
    return { kind: 'accepted', receipt: asAccepted(delivery), queued, written: fresh };
  };
}

function createFinder(handle: Handle): (key: Buffer) => SameEvent | undefined {
  const find = handle.prepare<[Buffer], number>(FIND_SAME_EVENT).pluck();
  const read = handle.prepare<[number], SameEvent>(READ_SAME_EVENT);
  return (key) => {
    const id = find.get(key);
    return id === undefined ? undefined : read.get(id);
  };
}

/** An event that stands twice in one delivery is taken once. */
function sortOut(
  { events }: NewReceipt,
  find: (key: Buffer) => SameEvent | undefined,
): { fresh: NewEvent[]; repeats: Repeat[] } {
  const seen = new Set<string>();
  const fresh: NewEvent[] = [];
  const repeats: Repeat[] = [];
  for (const event of events) {
    const key = event.sameEventKey.toString('latin1');
    if (seen.has(key)) continue;
    seen.add(key);
    const before = find(event.sameEventKey);
    if (before) repeats.push({ event, before });
    else fresh.push(event);
  }
  return { fresh, repeats };
}

function createInserter({ handle, sealer, claims }: Writing) {
  const insertReceipt = handle.prepare(INSERT_RECEIPT);
  const insertEvent = handle.prepare(INSERT_EVENT);
  const insertSameEvent = handle.prepare(INSERT_SAME_EVENT);
  const isIdReused = handle.prepare<[EventIdKeys], 0 | 1 | null>(IS_ID_REUSED).pluck();
  return (delivery: NewReceipt, events: readonly NewEvent[]): void => {
    const status = statusOf(events.map(({ outcome }) => outcome));
    const receipt = insertReceipt.run({
      externalId: null,
      traceparent: null,
      ...delivery,
      status,
    }).lastInsertRowid;
    for (const event of events) {
      const isPending = event.outcome === 'PENDING';
      const identity = payloadIdentity(delivery.id, event.position);
      const leads = claims.find(event.names);
      const row = insertEvent.run({
        eventType: null,
        eventId: null,
        externalId: null,
        lastError: null,
        ...event,
        note: event.idKeys && isIdReused.get(event.idKeys) ? 'event-id-reused' : null,
        receipt,
        leadIds: toLeadIds(leads),
        payload: isPending ? sealer.seal(identity, event.payload) : null,
        dueAt: isPending ? delivery.receivedAt : null,
        completedAt: isPending ? null : delivery.receivedAt,
      });
      insertSameEvent.run({
        key: event.sameEventKey,
        event: row.lastInsertRowid,
        firstSeenAt: delivery.receivedAt,
        id: null,
        person: null,
        ...event.idKeys,
      });
      const owner = { event: Number(row.lastInsertRowid), receiptId: delivery.id };
      claims.claim(owner, leads, delivery.receivedAt);
    }
  };
}

/** Returns whether the event waits for the worker because of this repeat. */
function createRepeatWorker({ handle, sealer, claims }: Writing) {
  const queueAgain = handle.prepare(QUEUE_AGAIN);
  const markAgain = handle.prepare<[number, Buffer, number]>(MARK_AGAIN);
  const startAgain = handle.prepare<[{ event: number; lease: null }]>(START_AGAIN);
  const forgetReleases = handle.prepare<[number]>(FORGET_RELEASES);
  const refreshNote = handle.prepare<[number]>(REFRESH_NOTE);
  const refreshStatus = handle.prepare(REFRESH_RECEIPT_STATUS);
  const setLeads = handle.prepare<[string | null, number]>(SET_LEADS);
  const queue = ({ event, before }: Repeat, now: number): boolean => {
    const effect = effectOf(event, before);
    const identity = payloadIdentity(before.receiptId, before.position);
    const payload = sealer.seal(identity, event.payload);
    if (effect === 'queue') {
      queueAgain.run(now, payload, before.event);
      refreshStatus.run(before.receipt);
      return true;
    }
    markAgain.run(now, payload, before.event);
    const isStarted = startAgain.run({ event: before.event, lease: null }).changes > 0;
    return isStarted && before.isBegun === 1; // else it has waited for the worker before
  };
  return (repeat: Repeat, now: number): boolean => {
    const { event, before } = repeat;
    if (effectOf(event, before) === 'nothing') return false;
    if (forgetReleases.run(before.event).changes > 0) refreshNote.run(before.event);
    const isQueued = queue(repeat, now);
    claims.claim(before, claims.find(event.names), now);
    setLeads.run(toLeadIds(claims.held(before)), before.event);
    return isQueued;
  };
}

/**
 * What a repeat sets going. An event without an id may be a new request with the same bytes, also
 * while the first one waits; one that ended without effect gets another chance; all else is a redelivery.
 */
function effectOf(event: NewEvent, before: SameEvent): 'nothing' | 'again' | 'queue' {
  const isRedelivery = event.idKeys !== undefined && ['PENDING', 'DONE'].includes(before.outcome);
  if (event.outcome !== 'PENDING' || isRedelivery) return 'nothing';
  return before.outcome === 'PENDING' ? 'again' : 'queue';
}

/** The receipt as the first response had it, whatever has become of it since. */
function asAccepted(receipt: OriginalRow | NewReceipt): Receipt {
  const { id, partnerId, eventType, externalId, correlationId, receivedAt } = receipt;
  return {
    id,
    partnerId,
    eventType,
    ...(externalId != null && { externalId }),
    correlationId,
    status: 'ACCEPTED',
    receivedAt,
  };
}
