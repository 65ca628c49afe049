import { toStoredKeys } from '#partners/receipts/same-event.ts';
import type { EventIdKeys } from '#partners/receipts/same-event.ts';
import { toNameKinds } from '#partners/deletions/match/match.ts';
import { payloadIdentity } from '#partners/receipts/payload.ts';
import type { PayloadSealer } from '#partners/receipts/payload.ts';
import { statusOf } from '#partners/receipts/receipt.ts';
import type { NewEvent, NewReceipt } from '#partners/receipts/receipt-store.ts';
import type { AcceptanceClaims } from '../claims/claim-on-acceptance.ts';
import type { Session } from '../connection/database.ts';
import type { Values } from '../../store/session.ts';
import * as sql from './statements.ts';

/** A delivery with those of its events that are new. */
export type FreshDelivery = { delivery: NewReceipt; events: readonly NewEvent[] };

export type Writing = {
  session: Session;
  sealer: PayloadSealer;
  claims: AcceptanceClaims;
  isIdReused: ReusedIds;
};

/** Tells of one event after another whether its id came before with another person. */
export type ReusedIds = (keys: EventIdKeys | undefined) => boolean;

/** An event on its way into the table. */
type Row = {
  event: NewEvent;
  delivery: NewReceipt;
  leads: readonly number[];
  isIdReused: boolean;
};

/** Writes receipts, their events and claims in three statements at most, however many they are. */
export async function insertDeliveries(
  writing: Writing,
  fresh: readonly FreshDelivery[],
): Promise<void> {
  if (fresh.length === 0) return;
  const { claims, isIdReused } = writing;
  const rows = fresh.flatMap(({ delivery, events }) =>
    events.map((event): Row => ({
      event,
      delivery,
      leads: claims.find(event.names),
      isIdReused: isIdReused(event.idKeys),
    })),
  );
  const ids = await insertRows(writing, fresh, rows);
  await claims.claim(
    rows.map(({ delivery, leads }, place) => ({
      event: ids[place] ?? 0,
      receiptId: delivery.id,
      leads,
      at: delivery.receivedAt,
    })),
  );
}

/** Knows what the store has of the ids of these events, and then of each event that it was asked about. */
export async function openReusedIds(
  session: Session,
  events: readonly NewEvent[],
): Promise<ReusedIds> {
  const ids = events.flatMap(({ idKeys }) => idKeys?.id ?? []);
  const persons = new Map<string, Set<string>>();
  const note = (id: Buffer, person: Buffer): Set<string> => {
    const known = persons.get(id.toString('hex')) ?? new Set();
    persons.set(id.toString('hex'), known);
    return known.add(person.toString('hex'));
  };
  type PersonsRow = { idKey: Buffer; lowest: Buffer; highest: Buffer };
  const rows = ids.length > 0 ? await session.all<PersonsRow>(sql.PERSONS_OF_IDS, { ids }) : [];
  for (const { idKey, lowest, highest } of rows)
    for (const one of [lowest, highest]) note(idKey, one);
  return (keys) => keys !== undefined && note(keys.id, keys.person).size > 1;
}

/** Answers the ids of the events in the order of the rows. */
async function insertRows(
  { session, sealer }: Writing,
  fresh: readonly FreshDelivery[],
  rows: readonly Row[],
): Promise<number[]> {
  const inserted = await session.all<{ id: number }>(sql.INSERT_DELIVERIES, {
    ...receiptValues(fresh),
    ...eventValues(sealer, rows),
    ...keyValues(rows.map(({ event }) => event)),
    firstSeenAts: rows.map(({ delivery }) => delivery.receivedAt),
  });
  return inserted.map(({ id }) => id);
}

/** The hashes of events, as the columns of `same_event`. */
export function keyValues(events: readonly NewEvent[]): Values {
  const stored = events.map(toStoredKeys);
  return {
    idKeys: stored.map(([idKey]) => idKey),
    personKeys: stored.map(([, personKey]) => personKey),
    keys: stored.map(([, , key]) => key),
  };
}

function receiptValues(fresh: readonly FreshDelivery[]): Values {
  const deliveries = fresh.map(({ delivery }) => delivery);
  return {
    ids: deliveries.map(({ id }) => id),
    partnerIds: deliveries.map(({ partnerId }) => partnerId),
    paths: deliveries.map(({ path }) => path),
    receiptEventTypes: deliveries.map(({ eventType }) => eventType),
    receiptExternalIds: deliveries.map(({ externalId }) => externalId ?? null),
    correlationIds: deliveries.map(({ correlationId }) => correlationId),
    statuses: fresh.map(({ events }) => statusOf(events.map(({ outcome }) => outcome))),
    receivedAts: deliveries.map(({ receivedAt }) => receivedAt),
    traceparents: deliveries.map(({ traceparent }) => traceparent ?? null),
  };
}

function eventValues(sealer: PayloadSealer, rows: readonly Row[]): Values {
  const isPending = ({ event }: Row): boolean => event.outcome === 'PENDING';
  return {
    receiptIds: rows.map(({ delivery }) => delivery.id),
    positions: rows.map(({ event }) => event.position),
    eventTypes: rows.map(({ event }) => event.eventType ?? null),
    eventIds: rows.map(({ event }) => event.eventId ?? null),
    externalIds: rows.map(({ event }) => event.externalId ?? null),
    outcomes: rows.map(({ event }) => event.outcome),
    notes: rows.map(
      ({ event, isIdReused }) => event.note ?? (isIdReused ? 'event-id-reused' : null),
    ),
    names: rows.map(({ event }) => toNameKinds(event.names)),
    leads: rows.map(({ leads }) => (leads.length > 0 ? JSON.stringify(leads.map(String)) : null)),
    lastErrors: rows.map(({ event }) => event.lastError ?? null),
    completedAts: rows.map((row) => (isPending(row) ? null : row.delivery.receivedAt)),
    payloads: rows.map((row) => (isPending(row) ? seal(sealer, row) : null)),
    dueAts: rows.map((row) => (isPending(row) ? row.delivery.receivedAt : null)),
  };
}

function seal(sealer: PayloadSealer, { delivery, event }: Row): Buffer {
  return sealer.seal(payloadIdentity(delivery.id, event.position), event.payload);
}
