import type { Database as Handle } from 'better-sqlite3';
import { toStoredKeys } from '#partners/receipts/same-event.ts';
import type { EventIdKeys } from '#partners/receipts/same-event.ts';
import { toNameKinds } from '#partners/deletions/match/match.ts';
import { payloadIdentity } from '#partners/receipts/payload.ts';
import type { PayloadSealer } from '#partners/receipts/payload.ts';
import { statusOf } from '#partners/receipts/receipt.ts';
import type { NewEvent, NewReceipt } from '#partners/receipts/receipt-store.ts';
import { toLeadIds } from '../claims/claim-leads.ts';
import type { AcceptanceClaims } from '../claims/claim-on-acceptance.ts';

const RECEIPT_COLUMNS = [
  'number',
  'id',
  'partnerId',
  'path',
  'eventType',
  'externalId',
  'correlationId',
  'status',
  'receivedAt',
  'traceparent',
];

const EVENT_COLUMNS = [
  'id',
  'receipt',
  'position',
  'eventType',
  'eventId',
  'externalId',
  'outcome',
  'note',
  'names',
  'leadIds',
  'lastError',
  'completedAt',
  'payload',
  'dueAt',
  'askedAt',
];

const SAME_EVENT_COLUMNS = ['idKey', 'personKey', 'key', 'event', 'firstSeenAt'];

/** Whoever inserts has the store to itself, so that these are what SQLite itself would choose. */
const NEXT_RECEIPT = 'SELECT coalesce(max(number), 0) + 1 FROM receipt';
const NEXT_EVENT = 'SELECT coalesce(max(id), 0) + 1 FROM event';

/** Both ends are looked at in the index, however often the id came with the same person. */
const IS_ID_REUSED = `
  SELECT (SELECT min(personKey) FROM same_event WHERE idKey = +@id) <> @person
    OR (SELECT max(personKey) FROM same_event WHERE idKey = +@id) <> @person`;

/** A delivery with those of its events that are new. */
export type FreshDelivery = { delivery: NewReceipt; events: readonly NewEvent[] };

export type Writing = { handle: Handle; sealer: PayloadSealer; claims: AcceptanceClaims };

/** An event on its way into the table. */
type Row = {
  id: number;
  receipt: number;
  delivery: NewReceipt;
  event: NewEvent;
  leads: readonly number[];
  isIdReused: boolean;
};

/** Writes receipts, their events and claims in a few statements, however many they are. */
export function createInserter(writing: Writing): (fresh: readonly FreshDelivery[]) => void {
  const { handle, sealer, claims } = writing;
  const nextReceipt = handle.prepare<[], number>(NEXT_RECEIPT).pluck();
  const insertReceipts = createRowInserter(handle, 'receipt', RECEIPT_COLUMNS);
  const insertEvents = createRowInserter(handle, 'event', EVENT_COLUMNS);
  const insertSameEvents = createRowInserter(handle, 'same_event', SAME_EVENT_COLUMNS);
  const toRows = createRowMaker(writing);
  return (fresh) => {
    if (fresh.length === 0) return;
    const firstReceipt = nextReceipt.get() ?? 1;
    insertReceipts(fresh.map((one, index) => receiptValues(firstReceipt + index, one)));
    const rows = toRows(firstReceipt, fresh);
    insertEvents(rows.map((row) => eventValues(sealer, row)));
    insertSameEvents(rows.map(sameEventValues));
    for (const { id, leads, delivery } of rows)
      claims.claim({ event: id, receiptId: delivery.id }, leads, delivery.receivedAt);
  };
}

function createRowMaker({ handle, claims }: Writing) {
  const nextEvent = handle.prepare<[], number>(NEXT_EVENT).pluck();
  const isIdReused = handle.prepare<[EventIdKeys], 0 | 1 | null>(IS_ID_REUSED).pluck();
  return (firstReceipt: number, fresh: readonly FreshDelivery[]): Row[] => {
    let id = nextEvent.get() ?? 1;
    const isReusedHere = createReusedIds();
    return fresh.flatMap(({ delivery, events }, index) =>
      events.map((event): Row => ({
        id: id++,
        receipt: firstReceipt + index,
        delivery,
        event,
        leads: claims.find(event.names),
        isIdReused:
          event.idKeys !== undefined &&
          (isReusedHere(event.idKeys) || isIdReused.get(event.idKeys) === 1),
      })),
    );
  };
}

/** Tells of one event after another whether its id came with another person in an event before it. */
function createReusedIds(): (keys: EventIdKeys) => boolean {
  const persons = new Map<string, Set<string>>();
  return ({ id, person }) => {
    const key = id.toString('latin1');
    const known = persons.get(key) ?? new Set();
    persons.set(key, known);
    return known.add(person.toString('latin1')).size > 1;
  };
}

function receiptValues(number: number, { delivery, events }: FreshDelivery): Value[] {
  const { id, partnerId, path, eventType, correlationId, receivedAt } = delivery;
  return [
    number,
    id,
    partnerId,
    path,
    eventType,
    delivery.externalId ?? null,
    correlationId,
    statusOf(events.map(({ outcome }) => outcome)),
    receivedAt,
    delivery.traceparent ?? null,
  ];
}

function eventValues(sealer: PayloadSealer, row: Row): Value[] {
  const { id, receipt, delivery, event, leads } = row;
  const isPending = event.outcome === 'PENDING';
  const identity = payloadIdentity(delivery.id, event.position);
  return [
    id,
    receipt,
    event.position,
    event.eventType ?? null,
    event.eventId ?? null,
    event.externalId ?? null,
    event.outcome,
    event.note ?? (row.isIdReused ? 'event-id-reused' : null),
    toNameKinds(event.names),
    toLeadIds(leads),
    event.lastError ?? null,
    isPending ? null : delivery.receivedAt,
    isPending ? sealer.seal(identity, event.payload) : null,
    isPending ? delivery.receivedAt : null,
    isPending ? delivery.receivedAt : null,
  ];
}

function sameEventValues({ id, delivery, event }: Row): Value[] {
  return [...toStoredKeys(event), id, delivery.receivedAt];
}

/** What a column can be bound to. */
type Value = string | number | Buffer | null;

/** So many rows go in one statement: the most that fit, then the next fewer. */
const ROWS_AT_ONCE = [32, 8, 1];

/**
 * Inserts rows with a few statements, however many they are: starting one costs as much as several
 * rows. Values are in the order of the columns.
 */
function createRowInserter(
  handle: Handle,
  table: string,
  columns: readonly string[],
): (rows: readonly (readonly Value[])[]) => void {
  const row = `(${columns.map(() => '?').join(', ')})`;
  const statements = ROWS_AT_ONCE.map((size) => {
    const values = Array.from({ length: size }, () => row).join(', ');
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values}`;
    return { size, insert: handle.prepare<[Value[]]>(sql) };
  });
  return (rows) => {
    let at = 0;
    for (const { size, insert } of statements)
      for (; rows.length - at >= size; at += size) insert.run(rows.slice(at, at + size).flat());
  };
}
