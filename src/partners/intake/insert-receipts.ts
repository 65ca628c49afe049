/** Rows of receipts and events: those that are there already, and the new ones with their claims. */
import type { EventIdKeys } from '../event.ts';
import type { NewEvent, NewReceipt } from './accept-delivery.ts';
import {
  type DirectoryView,
  type EventTimes,
  leadsToClaim,
  type MatchName,
  toNameKinds,
} from '#leads/directory/match.ts';
import {
  digestIdentity,
  isDeletion,
  type Outcome,
  payloadIdentity,
  type RepeatedEvent,
  statusOf,
} from '../receipts/receipt.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import { sendRows, type Statements, type Tx } from '#shared/database.ts';
import { rowsInto, toRecords } from '#shared/sql.ts';
import { claimsOf, insertClaims, leadIdsOf, putDeletionNames } from '#leads/claims/claim-leads.ts';

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

/** Tells of one event after another whether its id came before with another person: each counts from then on. */
export type ReusedIds = (keys: EventIdKeys | undefined) => boolean;

const PERSONS = 'SELECT person_key FROM same_event WHERE same_event.id_key = given.id_key';

/**
 * Most events are new: each is looked up in the index once, and only of an id that is there more is read. Two persons
 * are enough to know: the first and the last in the index, however often the id came.
 */
const FIND_KNOWN = `
  SELECT place, event, lowest, highest FROM (
    SELECT place, (${PERSONS} ORDER BY person_key LIMIT 1) AS lowest,
      (${PERSONS} ORDER BY person_key DESC LIMIT 1) AS highest,
      (SELECT event FROM same_event
        WHERE same_event.id_key = given.id_key AND same_event.person_key = given.person_key
          AND same_event.key = given.key) AS event
    FROM jsonb_to_recordset(@events)
      AS given (place integer, id_key bytea, person_key bytea, key bytea)
  ) AS found WHERE lowest IS NOT NULL`;

const READ_SAME_EVENTS = `
  SELECT event.id AS event, event.receipt, event.position, event.outcome, receipt.id AS receipt_id,
    receipt.received_at
  FROM event JOIN receipt ON receipt.number = event.receipt
  WHERE event.id = ANY(@events::bigint[])`;

type KnownRow = { place: number; event?: number; lowest: Buffer; highest: Buffer };

/** Reads what the store knows of these events and of their ids. */
export async function findKnown(
  db: Statements,
  events: readonly NewEvent[],
): Promise<{ before: ReadonlyMap<NewEvent, SameEvent>; isIdReused: ReusedIds }> {
  const keys = toRecords(events.map((event, place) => ({ ...toKeyRow(event), place })));
  const found = events.length > 0 ? await db.all<KnownRow>(FIND_KNOWN, { events: keys }) : [];
  const own = found.flatMap(({ place, event }) => (event === undefined ? [] : [{ place, event }]));
  const values = { events: own.map(({ event }) => event) };
  const rows = own.length > 0 ? await db.all<SameEvent>(READ_SAME_EVENTS, values) : [];
  const byId = new Map(rows.map((same) => [same.event, same]));
  return {
    before: new Map(
      own.map(({ place, event }) => [events[place] as NewEvent, byId.get(event) as SameEvent]),
    ),
    isIdReused: watchIds(events, found),
  };
}

function watchIds(events: readonly NewEvent[], found: readonly KnownRow[]): ReusedIds {
  const persons = new Map<string, Set<string>>();
  const note = ({ id }: EventIdKeys, person: Buffer): Set<string> => {
    const key = id.toString('latin1');
    const known = persons.get(key) ?? new Set();
    persons.set(key, known);
    return known.add(person.toString('latin1'));
  };
  for (const { place, lowest, highest } of found) {
    const keys = events[place]?.idKeys;
    if (keys) for (const one of [lowest, highest]) note(keys, one);
  }
  return (keys) => keys !== undefined && note(keys, keys.person).size > 1;
}

const NOBODY = Buffer.alloc(0);

/**
 * Keys by which an event is known, as columns of `same_event`. Where it has no id, its own key stands for it; events
 * of one id stand side by side.
 */
function toKeyRow(event: NewEvent): { idKey: Buffer; personKey: Buffer; key: Buffer } {
  const { sameEventKey: key, idKeys } = event;
  return { idKey: idKeys?.id ?? key, personKey: idKeys?.person ?? NOBODY, key };
}

/** Whoever inserts has the table to itself. */
const NEXT_NUMBERS = `
  SELECT (SELECT coalesce(max(number), 0) + 1 FROM receipt) AS receipt,
    (SELECT coalesce(max(id), 0) + 1 FROM event) AS event`;

type NextNumbers = { receipt: number; event: number };

export async function readNextNumbers(tx: Tx): Promise<NextNumbers> {
  return (await tx.get<NextNumbers>(NEXT_NUMBERS)) ?? { receipt: 1, event: 1 };
}

export type Writing = {
  tx: Tx;
  next: NextNumbers;
  /** Encrypts the bytes of events until they are settled; see `payloadIdentity`. */
  sealer: Sealer;
  /** Everything that the lead directory knows of what these events name. */
  directory: DirectoryView;
  /** Its leads are claimed. */
  repositoryId: number;
  isIdReused: ReusedIds;
};

const RECEIPTS = rowsInto(
  'receipt',
  `number bigint, id text, partner_id text, path text, event_type text, external_id text,
   correlation_id text, status text, received_at bigint, traceparent text, repeats jsonb`,
);

const EVENTS = rowsInto(
  'event',
  `id bigint, receipt bigint, position integer, event_type text, event_id text, external_id text,
   outcome text, note text, names text, lead_ids jsonb, last_error text, completed_at bigint,
   payload bytea, digest bytea, due_at bigint, asked_at bigint, actions jsonb, created_before bigint, is_deletion boolean`,
);

const SAME_EVENTS = rowsInto(
  'same_event',
  'event bigint, id_key bytea, person_key bytea, key bytea, first_seen_at bigint',
);

/** An event on its way into the table, and its receipt with the number that it gets. */
type Row = {
  id: number;
  number: number;
  receipt: NewReceipt;
  event: NewEvent;
  leads: readonly number[];
};

/** Writes receipts, their events and claims in a few statements, however many they are. */
export async function insertReceipts(
  writing: Writing,
  split: readonly SplitReceipt[],
): Promise<void> {
  if (split.length === 0) return;
  const { tx, next, directory, repositoryId } = writing;
  let { receipt: number, event: id } = next;
  const numbered = split.map((one) => ({ ...one, number: number++ }));
  const rows = numbered.flatMap(({ number, receipt, written }) =>
    written.map((event): Row => {
      const leads = leadsNamed(directory, event, timesOf(event, receipt));
      return { id: id++, number, receipt, event, leads };
    }),
  );
  const events = rows.map((row) => toEventRow(row, writing));
  const deletions = rows.filter(({ receipt }) => isDeletion(receipt)).map(toClaim);
  await claimNamed(tx, repositoryId, deletions);
  // Nothing is read of them: the commit goes the same way.
  sendRows(tx, RECEIPTS, numbered.map(toReceiptRow));
  sendRows(tx, EVENTS, events);
  sendRows(tx, SAME_EVENTS, rows.map(toSameEventRow));
  putDeletionNames(tx, { repositoryId, deletions }); // what the directory learns meanwhile is claimed, too
}

function toReceiptRow({
  number,
  receipt,
  written,
  known,
}: SplitReceipt & { number: number }): object {
  const { events: _events, createdBefore: _createdBefore, ...row } = receipt;
  const status = statusOf(written.map(({ outcome }) => outcome));
  return { ...row, number, status, ...(known.length > 0 && { repeats: known }) };
}

function toEventRow(
  { id, number, receipt, event, leads }: Row,
  { sealer, isIdReused }: Writing,
): object {
  const { receivedAt } = receipt;
  const { position, eventType, eventId, externalId, outcome, lastError } = event;
  const isReused = isIdReused(event.idKeys);
  const identity = payloadIdentity(receipt.id, position);
  return {
    id,
    receipt: number,
    position,
    eventType,
    eventId,
    externalId,
    outcome,
    note: event.note ?? (isReused ? 'event-id-reused' : undefined),
    names: toNameKinds(event.names),
    leadIds: leadIdsOf(leads),
    lastError,
    digest: sealer.seal(digestIdentity(receipt.id, position), event.digest),
    isDeletion: isDeletion(receipt),
    ...(outcome === 'PENDING'
      ? {
          payload: sealer.seal(identity, event.payload),
          dueAt: receivedAt,
          askedAt: receivedAt,
          actions: event.actions,
          createdBefore: timesOf(event, receipt).createdBefore,
        }
      : { completedAt: receivedAt }),
  };
}

function toSameEventRow({ id, receipt, event }: Row): object {
  return { ...toKeyRow(event), event: id, firstSeenAt: receipt.receivedAt };
}

/** A deletion that is accepted, or that has come again. */
type AcceptedDeletion = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  names: readonly MatchName[];
  /** The leads to claim, in ascending order. */
  leads: readonly number[];
  at: number;
};

function toClaim({ id, receipt, event, leads }: Row): AcceptedDeletion {
  const { receivedAt: at } = receipt;
  return { event: id, receiptId: receipt.id, names: event.names, leads, at };
}

/**
 * An event that was brought in by hand counts from when it happened, which is not ahead of its delivery. One that came
 * before knew no number that was given later.
 */
export function timesOf(event: NewEvent, receipt: NewReceipt, before?: SameEvent): EventTimes {
  const createdBefore = Math.min(event.createdBefore ?? Infinity, receipt.createdBefore);
  return { createdBefore, receivedAt: (before ?? receipt).receivedAt };
}

/** The leads to claim by what an event names, in ascending order. */
export function leadsNamed(
  directory: DirectoryView,
  { names }: NewEvent,
  times: EventTimes,
): number[] {
  return leadsToClaim(names, directory, times).sort((left, right) => left - right);
}

/** Claims what deletions name, until the worker knows better. */
export async function claimNamed(
  tx: Tx,
  repositoryId: number,
  deletions: readonly AcceptedDeletion[],
): Promise<void> {
  const claims = deletions.flatMap(({ event, receiptId, leads, at }) =>
    claimsOf({ event, receiptId, numbers: leads }, at),
  );
  await insertClaims(tx, { repositoryId, claims });
}
