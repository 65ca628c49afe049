import type { Database as Handle } from 'better-sqlite3';
import type { Receipt, ReceiptDetail, ReceiptEvent } from '#partners/receipt.ts';
import type { ReceiptFilter, ReceiptStore } from '#partners/receipt-store.ts';
import { guard } from './errors.ts';
import { receiptConditions } from './receipt-conditions.ts';

const COLUMNS = `
  receipt.number, receipt.id, receipt.partnerId, receipt.eventType, receipt.externalId,
  receipt.correlationId, receipt.status, receipt.receivedAt`;

const READ_RECEIPT = `SELECT ${COLUMNS} FROM receipt WHERE id = ?`;

const READ_EVENTS = `
  SELECT eventType, eventId, externalId, outcome, erasure, note, leadIds, attempts, lastError, completedAt
  FROM event WHERE receipt = ? ORDER BY position`;

type Nullable<T> = {
  [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};
type ReceiptRow = Nullable<Receipt> & { number: number };
type EventRow = Nullable<Omit<ReceiptEvent, 'leadIds'>> & { leadIds: string | null };

/** Reads receipts, newest first. */
export function createReceiptReader(handle: Handle): Pick<ReceiptStore, 'list' | 'read'> {
  const readReceipt = handle.prepare<[string], ReceiptRow>(READ_RECEIPT);
  const readEvents = handle.prepare<[number], EventRow>(READ_EVENTS);
  return {
    list: async (filter, limit, after) =>
      guard(() => {
        const rows = selectPage(handle, filter, limit + 1, after);
        const page = rows.slice(0, limit);
        const last = page.at(-1);
        const receipts = page.map(toReceipt);
        return rows.length > limit && last ? { receipts, next: last.number } : { receipts };
      }),
    read: async (id) =>
      guard((): ReceiptDetail | undefined => {
        const row = readReceipt.get(id);
        if (!row) return undefined;
        return { ...toReceipt(row), events: readEvents.all(row.number).map(toEvent) };
      }),
  };
}

function selectPage(
  handle: Handle,
  filter: ReceiptFilter,
  limit: number,
  after = Number.MAX_SAFE_INTEGER,
): ReceiptRow[] {
  const { from, number, where, values } = receiptConditions(filter);
  const sql = `
    SELECT ${COLUMNS} FROM ${from}
    WHERE ${[...where, `${number} < ?`].join(' AND ')}
    GROUP BY ${number} ORDER BY ${number} DESC LIMIT ?`;
  return handle.prepare<unknown[], ReceiptRow>(sql).all(...values, after, limit);
}

function toReceipt(row: ReceiptRow): Receipt {
  const { id, partnerId, eventType, externalId, correlationId, status, receivedAt } = row;
  return {
    id,
    partnerId,
    eventType,
    ...(externalId === null ? {} : { externalId }),
    correlationId,
    status,
    receivedAt,
  };
}

function toEvent({ leadIds, attempts, outcome, ...optional }: EventRow): ReceiptEvent {
  const present = Object.entries(optional).filter(([, value]) => value !== null);
  return {
    ...(Object.fromEntries(present) as Partial<ReceiptEvent>),
    outcome,
    leadIds: leadIds === null ? [] : (JSON.parse(leadIds) as string[]),
    attempts,
  };
}
