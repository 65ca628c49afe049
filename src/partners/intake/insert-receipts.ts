/** Rows of new receipts and events, with the claims of their leads. */
import { leadIdsOf, putDeletionNames } from '#leads/claims/claim-leads.ts';
import { toNameKinds } from '#leads/directory/match.ts';
import { sendRows, type Tx } from '#shared/database.ts';
import { rowsInto } from '#shared/sql.ts';
import {
  digestIdentity,
  isDeletion,
  payloadIdentity,
  type RepeatedEvent,
  statusOf,
} from '../receipts/receipt.ts';
import type { NewEvent, NewReceipt } from './accept-delivery.ts';
import {
  type AcceptedDeletion,
  claimNamed,
  leadsNamed,
  timesOf,
  type Writing,
} from './claim-named.ts';
import { type ReusedIds, toKeyRow } from './repeats.ts';

/** A receipt that gets rows of its own. */
export type ReceiptToInsert = {
  receipt: NewReceipt;
  /** Written under this receipt: those that did not come before. */
  written: NewEvent[];
  /** All others: each came before, or stands twice in the delivery. */
  notNew: RepeatedEvent[];
};

/** Whoever inserts has the table to itself. */
const NEXT_NUMBERS = `
  SELECT (SELECT coalesce(max(number), 0) + 1 FROM receipt) AS receipt,
    (SELECT coalesce(max(id), 0) + 1 FROM event) AS event`;

type NextNumbers = { receipt: number; event: number };

export async function readNextNumbers(tx: Tx): Promise<NextNumbers> {
  return (await tx.get<NextNumbers>(NEXT_NUMBERS)) ?? { receipt: 1, event: 1 };
}

type Inserting = Writing & { next: NextNumbers; isIdReused: ReusedIds };

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
  writing: Inserting,
  receipts: readonly ReceiptToInsert[],
): Promise<void> {
  if (receipts.length === 0) return;
  const { tx, next, directory, repositoryId } = writing;
  let { receipt: number, event: id } = next;
  const numbered = receipts.map((one) => ({ ...one, number: number++ }));
  const rows = numbered.flatMap(({ number, receipt, written }) =>
    written.map((event): Row => {
      const leads = leadsNamed(directory, event, timesOf(event, receipt));
      return { id: id++, number, receipt, event, leads };
    }),
  );
  const events = rows.map((row) => toEventRow(row, writing));
  const deletions = rows.filter(({ receipt }) => isDeletion(receipt)).map(toClaim);
  await claimNamed(tx, { repositoryId, deletions });
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
  notNew,
}: ReceiptToInsert & { number: number }): object {
  const { events: _events, createdBefore: _createdBefore, ...row } = receipt;
  const status = statusOf(written.map(({ outcome }) => outcome));
  return { ...row, number, status, ...(notNew.length > 0 && { repeats: notNew }) };
}

function toEventRow(
  { id, number, receipt, event, leads }: Row,
  { sealer, isIdReused }: Inserting,
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

function toClaim({ id, receipt, event, leads }: Row): AcceptedDeletion {
  const { receivedAt: at } = receipt;
  return { event: id, receiptId: receipt.id, names: event.names, leads, at };
}
