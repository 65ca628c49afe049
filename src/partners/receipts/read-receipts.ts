import {
  type EventStep,
  type NameKind,
  type Outcome,
  outcomes,
  type PartnerPath,
  type Receipt,
  type ReceiptDetail,
  type ReceiptEventDetail,
  type ReceiptSummary,
  type Remainder,
  type RepeatedEvent,
} from './receipt.ts';
import type { Listed, PageRange } from '#shared/pagination/page.ts';
import type { Statements } from '#shared/database.ts';
import { either } from '#shared/sql.ts';
import { receiptConditions, type ReceiptFilter } from './receipt-conditions.ts';

const COLUMNS = `
  receipt.number, receipt.id, receipt.partner_id, receipt.path, receipt.event_type, receipt.external_id,
  receipt.correlation_id, receipt.status, receipt.received_at`;

const READ_RECEIPT = `SELECT ${COLUMNS}, receipt.repeats FROM receipt WHERE id = @id`;

const READ_EVENTS = `
  SELECT position, event_type, event_id, external_id, outcome, erasure, remains, note, lead_ids, attempts,
    last_error, completed_at, acknowledged_at, due_at, coalesce(names, '') AS names, history,
    EXISTS (SELECT 1 FROM claim WHERE claim.event = event.id AND claim.is_provisional
      AND claim.released_at IS NULL) AS is_provisional,
    outcome IN ('UNMATCHED', 'FAILED') AND payload IS NOT NULL AS is_replayable
  FROM event WHERE receipt = @number ORDER BY position`;

/** Every outcome is named so that the index `event_by_outcome` has the whole result. */
const COUNT_OUTCOMES = `
  SELECT receipt, outcome, count(*) AS count FROM event
  WHERE receipt = ANY(@numbers::bigint[])
    AND outcome IN (${outcomes.map((outcome) => `'${outcome}'`).join(', ')})
  GROUP BY receipt, outcome`;

/** By the same index; then it reads the events that wait, and no others. */
const NEXT_DUE = `
  SELECT receipt, min(due_at) AS due_at FROM event
  WHERE receipt = ANY(@numbers::bigint[]) AND outcome = 'PENDING'
  GROUP BY receipt`;

type ReceiptRow = Receipt & { number: number; path: PartnerPath };
type OutcomeRow = { receipt: number; outcome: Outcome; count: number };
type DueRow = { receipt: number; dueAt: number };
type Stored = 'leadIds' | 'names' | 'history' | 'remains';
type EventRow = Omit<ReceiptEventDetail, Stored> & {
  names: string;
  leadIds?: string;
  remains?: string;
  history: string;
};

type ReceiptRange = PageRange & { filter: ReceiptFilter };

/** Receipts that the filter finds, newest first. @throws {store-unavailable} */
export async function listReceipts(
  db: Statements,
  range: ReceiptRange,
): Promise<Listed<ReceiptSummary>[]> {
  const rows = await selectPage(db, range);
  const numbers = rows.map(({ number }) => number);
  const due = await db.all<DueRow>(NEXT_DUE, { numbers });
  const counts = await db.all<OutcomeRow>(COUNT_OUTCOMES, { numbers });
  return toSummaries(rows, counts, due);
}

/** One receipt with its events. @throws {store-unavailable} */
export async function readReceipt(db: Statements, id: string): Promise<ReceiptDetail | undefined> {
  const found = await db.get<ReceiptRow & { repeats?: string }>(READ_RECEIPT, { id });
  if (!found) return undefined;
  const { repeats, ...row } = found;
  const events = await db.all<EventRow>(READ_EVENTS, row);
  return {
    ...toReceipt(row),
    path: row.path,
    events: events.map(toEvent),
    ...(repeats !== undefined && { repeats: JSON.parse(repeats) as RepeatedEvent[] }),
  };
}

async function selectPage(
  db: Statements,
  { filter, limit, after = Number.MAX_SAFE_INTEGER }: ReceiptRange,
): Promise<ReceiptRow[]> {
  const { from, number, where, values } = await receiptConditions(db, filter);
  const inOrder = either('receipt.number', number);
  return db.all<ReceiptRow>(
    `SELECT ${COLUMNS} FROM ${from}
     WHERE ${where} AND ${number} < @after
     GROUP BY ${inOrder} ORDER BY ${inOrder} DESC LIMIT @limit`,
    { ...values, after, limit },
  );
}

function toSummaries(
  rows: readonly ReceiptRow[],
  counts: readonly OutcomeRow[],
  due: readonly DueRow[],
): Listed<ReceiptSummary>[] {
  const byReceipt = Map.groupBy(counts, ({ receipt }) => receipt);
  const dueAt = new Map(due.map((one) => [one.receipt, one.dueAt]));
  return rows.map((row) => {
    const own = byReceipt.get(row.number) ?? [];
    const counted = Object.fromEntries(own.map(({ outcome, count }) => [outcome, count]));
    const nextDueAt = dueAt.get(row.number);
    const next = nextDueAt !== undefined && { nextDueAt };
    const item = { ...toReceipt(row), path: row.path, outcomes: counted, ...next };
    return { item, position: row.number };
  });
}

function toReceipt({ number: _number, path: _path, ...row }: ReceiptRow): Receipt {
  return row;
}

function toEvent({ leadIds, names, history, remains, ...row }: EventRow): ReceiptEventDetail {
  return {
    ...row,
    ...(remains !== undefined && { remains: JSON.parse(remains) as Remainder[] }),
    names: names === '' ? [] : (names.split(' ') as NameKind[]),
    leadIds: leadIds === undefined ? [] : (JSON.parse(leadIds) as string[]),
    history: JSON.parse(history, (_name, value: unknown) => value ?? undefined) as EventStep[],
  };
}
