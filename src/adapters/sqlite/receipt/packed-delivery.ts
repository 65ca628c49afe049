import type { MatchName } from '#partners/deletions/match/match.ts';
import type { Acceptance, NewEvent, NewReceipt } from '#partners/receipts/receipt-store.ts';
import type { Receipt } from '#partners/receipts/receipt.ts';

/**
 * A delivery as it goes to the writing thread, in a third of the time that its objects take: lists without the
 * names of their members, and the bytes of all events in one piece, as a text with a character for each. Where
 * bytes belong stands their length.
 */
export type PackedDelivery = [PackedReceipt, PackedEvent[], bytes: string];

type PackedReceipt = [
  id: string,
  partnerId: string,
  path: NewReceipt['path'],
  eventType: string,
  externalId: string | undefined,
  correlationId: string,
  receivedAt: number,
  traceparent: string | undefined,
];

type PackedEvent = [
  position: number,
  eventType: string | undefined,
  eventId: string | undefined,
  externalId: string | undefined,
  outcome: NewEvent['outcome'],
  lastError: string | undefined,
  sameEventKey: number,
  idKeys: [id: number, person: number] | undefined,
  names: [kind: MatchName['kind'], numberOrHash: number][],
  payload: number,
  note: NewEvent['note'],
  merge: [from: number[], to: number] | undefined,
];

export function packDelivery({ events, ...receipt }: NewReceipt): PackedDelivery {
  const bytes: Buffer[] = [];
  const put = (piece: Buffer): number => {
    bytes.push(piece);
    return piece.length;
  };
  const { id, partnerId, path, eventType, externalId, correlationId, receivedAt } = receipt;
  const head: PackedReceipt = [
    id,
    partnerId,
    path,
    eventType,
    externalId,
    correlationId,
    receivedAt,
    receipt.traceparent,
  ];
  return [
    head,
    events.map((event) => packEvent(event, put)),
    Buffer.concat(bytes).toString('latin1'),
  ];
}

function packEvent(event: NewEvent, put: (piece: Buffer) => number): PackedEvent {
  const { position, eventType, eventId, externalId, outcome, lastError, idKeys } = event;
  return [
    position,
    eventType,
    eventId,
    externalId,
    outcome,
    lastError,
    put(event.sameEventKey),
    idKeys && [put(idKeys.id), put(idKeys.person)],
    event.names.map((name) => [name.kind, name.kind === 'lead-id' ? name.number : put(name.hash)]),
    put(event.payload),
    event.note,
    event.merge && [event.merge.from.map(put), put(event.merge.to)],
  ];
}

/** What `packDelivery` packed. */
export function unpackDelivery([head, events, text]: PackedDelivery): NewReceipt {
  const bytes = Buffer.from(text, 'latin1');
  const [id, partnerId, path, eventType, externalId, correlationId, receivedAt, traceparent] = head;
  let at = 0;
  const take = (length: number): Buffer => bytes.subarray(at, (at += length));
  return {
    id,
    partnerId,
    path,
    eventType,
    ...(externalId !== undefined && { externalId }),
    correlationId,
    receivedAt,
    ...(traceparent !== undefined && { traceparent }),
    events: events.map((event) => unpackEvent(event, take)),
  };
}

function unpackEvent(packed: PackedEvent, take: (length: number) => Buffer): NewEvent {
  const [position, eventType, eventId, externalId, outcome, lastError] = packed;
  const [, , , , , , sameEventKey, idKeys, names, payload, note, merge] = packed;
  return {
    position,
    ...(eventType !== undefined && { eventType }),
    ...(eventId !== undefined && { eventId }),
    ...(externalId !== undefined && { externalId }),
    outcome,
    ...(lastError !== undefined && { lastError }),
    sameEventKey: take(sameEventKey),
    ...(idKeys && { idKeys: { id: take(idKeys[0]), person: take(idKeys[1]) } }),
    names: names.map(([kind, numberOrHash]) =>
      kind === 'lead-id' ? { kind, number: numberOrHash } : { kind, hash: take(numberOrHash) },
    ),
    payload: take(payload),
    ...(note !== undefined && { note }),
    ...(merge && { merge: { from: merge[0].map(take), to: take(merge[1]) } }),
  };
}

/** What became of a delivery, without what whoever sent it knows. */
export type PackedAcceptance = {
  /** Events that wait for the worker because of it. */
  queued: number;
  /** There when every event came before: the first receipt. */
  original?: Receipt;
  /** There when some events were not written: the positions of those that were. */
  written?: number[];
};

export function unpackAcceptance(
  delivery: NewReceipt,
  { queued, original, written }: PackedAcceptance,
): Acceptance {
  if (original) return { kind: 'repeat', receipt: original, queued, written: [] };
  const { events } = delivery;
  return {
    kind: 'accepted',
    receipt: asAccepted(delivery),
    queued,
    written: written ? events.filter(({ position }) => written.includes(position)) : events,
  };
}

type Accepted = Omit<Receipt, 'status' | 'externalId'> & { externalId?: string | null };

/** The receipt as the first response had it, whatever has become of it since. */
export function asAccepted(receipt: Accepted): Receipt {
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
