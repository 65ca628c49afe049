import { setImmediate } from 'node:timers/promises';
import type { ReceiptFilter, ReceiptStore } from './receipt-store.ts';
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
  type RepeatedEvent,
} from './receipt.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import { OUTCOME_COUNT_MAX, type OutcomeCounts } from './recent-outcomes.ts';
import type { Statements } from '#shared/database.ts';
import { either, toRecords } from '#shared/sql.ts';
import { receiptConditions } from './receipt-conditions.ts';

const COLUMNS = `
  receipt.number, receipt.id, receipt.partner_id, receipt.path, receipt.event_type, receipt.external_id,
  receipt.correlation_id, receipt.status, receipt.received_at`;

const READ_RECEIPT = `SELECT ${COLUMNS}, receipt.repeats FROM receipt WHERE id = @id`;

const READ_EVENTS = `
  SELECT position, event_type, event_id, external_id, outcome, erasure, note, lead_ids, attempts,
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
type Stored = 'leadIds' | 'names' | 'history';
type EventRow = Omit<ReceiptEventDetail, Stored> & {
  names: string;
  leadIds?: string;
  history: string;
};

/** Reads receipts, newest first. */
export function createReceiptReader(session: Statements): Pick<ReceiptStore, 'list' | 'read'> {
  return {
    list: async (filter, limit, after) => {
      const rows = await selectPage(session, filter, { limit: limit + 1, after });
      const { items, last } = cutPage(rows, limit);
      const numbers = items.map(({ number }) => number);
      const due = await session.all<DueRow>(NEXT_DUE, { numbers });
      const counts = await session.all<OutcomeRow>(COUNT_OUTCOMES, { numbers });
      const receipts = toSummaries(items, counts, due);
      return last ? { receipts, next: last.number } : { receipts };
    },
    read: async (id): Promise<ReceiptDetail | undefined> => {
      const found = await session.get<ReceiptRow & { repeats?: string }>(READ_RECEIPT, { id });
      if (!found) return undefined;
      const { repeats, ...row } = found;
      const events = await session.all<EventRow>(READ_EVENTS, row);
      return {
        ...toReceipt(row),
        path: row.path,
        events: events.map(toEvent),
        ...(repeats !== undefined && { repeats: JSON.parse(repeats) as RepeatedEvent[] }),
      };
    },
  };
}

async function selectPage(
  session: Statements,
  filter: ReceiptFilter,
  { limit, after = Number.MAX_SAFE_INTEGER }: { limit: number; after: number | undefined },
): Promise<ReceiptRow[]> {
  const { from, number, where, values } = await receiptConditions(session, filter);
  const inOrder = either('receipt.number', number);
  return session.all<ReceiptRow>(
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
): ReceiptSummary[] {
  const byReceipt = Map.groupBy(counts, ({ receipt }) => receipt);
  const dueAt = new Map(due.map((one) => [one.receipt, one.dueAt]));
  return rows.map((row) => {
    const own = byReceipt.get(row.number) ?? [];
    const counted = Object.fromEntries(own.map(({ outcome, count }) => [outcome, count]));
    const nextDueAt = dueAt.get(row.number);
    const next = nextDueAt !== undefined && { nextDueAt };
    return { ...toReceipt(row), path: row.path, outcomes: counted, ...next };
  });
}

function toReceipt({ number: _number, path: _path, ...row }: ReceiptRow): Receipt {
  return row;
}

function toEvent({ leadIds, names, history, ...row }: EventRow): ReceiptEventDetail {
  return {
    ...row,
    names: names === '' ? [] : (names.split(' ') as NameKind[]),
    leadIds: leadIds === undefined ? [] : (JSON.parse(leadIds) as string[]),
    history: JSON.parse(history, (_name, value: unknown) => value ?? undefined) as EventStep[],
  };
}

/** Receipts are numbered as they are accepted, so that a time is a number. */
const FIRST_SINCE = `
  SELECT number FROM receipt /*sqlite INDEXED BY receipt_by_time*/ WHERE received_at >= @start
  ORDER BY received_at LIMIT 1`;

/** The index has all of it: no event is read. */
const countBy = (index: string, also = ''): string => `
  SELECT outcome, (
    SELECT count(*) FROM (
      SELECT 1 FROM event /*sqlite INDEXED BY ${index}*/
      WHERE event.outcome = asked.outcome AND event.receipt >= @first AND event.receipt < @next
        ${also}
      LIMIT ${OUTCOME_COUNT_MAX}) AS found) AS count
  FROM jsonb_to_recordset(@outcomes) AS asked (outcome text)`;

const ALL = countBy('event_by_outcome');
const ACKNOWLEDGED = countBy('event_acknowledged', 'AND event.acknowledged_at IS NOT NULL');

/** Counts events, a few milliseconds at a time: reads of SQLite are on the event loop. */
export function createOutcomeCounts(session: Statements): OutcomeCounts {
  const numberAt = async (start: number): Promise<number> => {
    const row = await session.get<{ number: number }>(FIRST_SINCE, { start });
    return row?.number ?? Number.MAX_SAFE_INTEGER;
  };
  return {
    count: async (starts, outcomes, which) => {
      const sql = which === 'acknowledged' ? ACKNOWLEDGED : ALL;
      const named = toRecords(outcomes.map((outcome) => ({ outcome })));
      const numbers: number[] = [];
      for (const start of starts) numbers.push(await numberAt(start));
      const counts = [];
      for (const [at, first] of numbers.entries()) {
        const next = numbers[at + 1] ?? Number.MAX_SAFE_INTEGER;
        const values = { outcomes: named, first, next };
        const rows = await session.all<{ outcome: Outcome; count: number }>(sql, values);
        const found = rows.filter(({ count }) => count > 0);
        counts.push(Object.fromEntries(found.map(({ outcome, count }) => [outcome, count])));
        await setImmediate();
      }
      return counts;
    },
  };
}
