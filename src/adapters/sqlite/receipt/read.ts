import type { Database as Handle } from 'better-sqlite3';
import { outcomes } from '#partners/receipts/receipt.ts';
import type {
  EventStep,
  NameKind,
  Outcome,
  PartnerPath,
  Receipt,
  ReceiptDetail,
  ReceiptEventDetail,
  ReceiptSummary,
} from '#partners/receipts/receipt.ts';
import type { ReceiptFilter, ReceiptStore } from '#partners/receipts/receipt-store.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import { present } from '#shared/store/row.ts';
import type { RowOf } from '#shared/store/row.ts';
import { guard } from '../connection/errors.ts';
import { receiptConditions } from './conditions.ts';

const COLUMNS = `
  receipt.number, receipt.id, receipt.partnerId, receipt.path, receipt.eventType, receipt.externalId,
  receipt.correlationId, receipt.status, receipt.receivedAt`;

const READ_RECEIPT = `SELECT ${COLUMNS} FROM receipt WHERE id = ?`;

const READ_EVENTS = `
  SELECT position, eventType, eventId, externalId, outcome, erasure, note, leadIds, attempts,
    lastError, completedAt, acknowledgedAt, dueAt, coalesce(names, '') AS names, history,
    EXISTS (SELECT 1 FROM claim WHERE claim.event = event.id AND claim.isProvisional = 1
      AND claim.releasedAt IS NULL) AS isProvisional,
    outcome IN ('UNMATCHED', 'FAILED') AND payload IS NOT NULL AS isReplayable
  FROM event WHERE receipt = ? ORDER BY position`;

/** Every outcome is named so that the index `event_by_outcome` has the whole result. */
const COUNT_OUTCOMES = `
  SELECT receipt, outcome, count(*) AS count FROM event
  WHERE receipt IN (SELECT value FROM json_each(?))
    AND outcome IN (${outcomes.map((outcome) => `'${outcome}'`).join(', ')})
  GROUP BY receipt, outcome`;

/** By the same index; then it reads the events that wait, and no others. */
const NEXT_DUE = `
  SELECT receipt, min(dueAt) AS dueAt FROM event
  WHERE receipt IN (SELECT value FROM json_each(?)) AND outcome = 'PENDING'
  GROUP BY receipt`;

type ReceiptRow = RowOf<Receipt> & { number: number; path: PartnerPath };
type OutcomeRow = { receipt: number; outcome: Outcome; count: number };
type DueRow = { receipt: number; dueAt: number };
type Stored = 'leadIds' | 'isReplayable' | 'isProvisional' | 'names' | 'history';
type EventRow = RowOf<Omit<ReceiptEventDetail, Stored>> & {
  names: string;
  leadIds: string | null;
  history: string;
  isReplayable: 0 | 1;
  isProvisional: 0 | 1;
};

/** Reads receipts, newest first. */
export function createReceiptReader(handle: Handle): Pick<ReceiptStore, 'list' | 'read'> {
  const readReceipt = handle.prepare<[string], ReceiptRow>(READ_RECEIPT);
  const countOutcomes = handle.prepare<[string], OutcomeRow>(COUNT_OUTCOMES);
  const findNextDue = handle.prepare<[string], DueRow>(NEXT_DUE);
  const readEvents = handle.prepare<[number], EventRow>(READ_EVENTS);
  return {
    list: async (filter, limit, after) =>
      guard(() => {
        const rows = selectPage(handle, filter, limit + 1, after);
        const { items, last } = cutPage(rows, limit);
        const numbers = JSON.stringify(items.map(({ number }) => number));
        const due = new Map(findNextDue.all(numbers).map((one) => [one.receipt, one.dueAt]));
        const receipts = toSummaries(items, countOutcomes.all(numbers), due);
        return last ? { receipts, next: last.number } : { receipts };
      }),
    read: async (id) =>
      guard((): ReceiptDetail | undefined => {
        const row = readReceipt.get(id);
        if (!row) return undefined;
        return {
          ...toReceipt(row),
          path: row.path,
          events: readEvents.all(row.number).map(toEvent),
        };
      }),
  };
}

function selectPage(
  handle: Handle,
  filter: ReceiptFilter,
  limit: number,
  after = Number.MAX_SAFE_INTEGER,
): ReceiptRow[] {
  const { from, number, where, values } = receiptConditions(handle, filter);
  const sql = `
    SELECT ${COLUMNS} FROM ${from}
    WHERE ${[...where, `${number} < ?`].join(' AND ')}
    GROUP BY ${number} ORDER BY ${number} DESC LIMIT ?`;
  return handle.prepare<unknown[], ReceiptRow>(sql).all(...values, after, limit);
}

function toSummaries(
  rows: readonly ReceiptRow[],
  counts: readonly OutcomeRow[],
  due: ReadonlyMap<number, number>,
): ReceiptSummary[] {
  const byReceipt = Map.groupBy(counts, ({ receipt }) => receipt);
  return rows.map((row) => {
    const own = byReceipt.get(row.number) ?? [];
    const counted = Object.fromEntries(own.map(({ outcome, count }) => [outcome, count]));
    const nextDueAt = due.get(row.number);
    const next = nextDueAt !== undefined && { nextDueAt };
    return { ...toReceipt(row), path: row.path, outcomes: counted, ...next };
  });
}

function toReceipt({ number: _number, path: _path, ...row }: ReceiptRow): Receipt {
  return present(row) as Receipt;
}

function toEvent({ leadIds, names, history, ...row }: EventRow): ReceiptEventDetail {
  return {
    ...(present(row) as Omit<ReceiptEventDetail, Stored>),
    names: names === '' ? [] : (names.split(' ') as NameKind[]),
    leadIds: leadIds === null ? [] : (JSON.parse(leadIds) as string[]),
    history: (JSON.parse(history) as object[]).map((step) => present(step) as EventStep),
    isReplayable: row.isReplayable === 1,
    isProvisional: row.isProvisional === 1,
  };
}
