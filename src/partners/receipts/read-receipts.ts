import { refuse, TrackportError } from '#shared/errors.ts';
import { refuseCursor, sealPage, startPage } from '#shared/page.ts';
import type { CursorSealer, Pagination } from '#shared/page.ts';
import { toReceiptDetailOut, toReceiptSummaryOut } from './receipt-out.ts';
import type { ReceiptDetailOut, ReceiptSummaryOut } from './receipt-out.ts';
import type { ReceiptFilter, ReceiptStore } from './receipt-store.ts';

const LIST = { kind: 'receipts/2', binding: '' }; // whoever may see it sees all of it
const LIMIT_MAX = 100;

export type ReadReceiptsDeps = {
  store: Pick<ReceiptStore, 'list' | 'read'>;
  cursors: CursorSealer;
};

/** A read of the list. A cursor carries the filter; `limit` (1 to 100) may change. */
export type ReceiptListQuery = { filter: ReceiptFilter; limit: number; cursor?: string };

export type ReceiptList = { items: readonly ReceiptSummaryOut[]; pagination: Pagination };

/**
 * One page of receipts, newest first.
 * @throws {validation-failed} @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function listReceipts(
  { store, cursors }: ReadReceiptsDeps,
  { filter, limit, cursor }: ReceiptListQuery,
): Promise<ReceiptList> {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    refuse([{ parameter: 'limit', code: 'out-of-range', detail: `limit is 1 to ${LIMIT_MAX}.` }]);
  const { filters, position } = startPage(cursors, LIST, { cursor, filters: filter });
  const after = position === undefined ? undefined : toPosition(position);
  const { receipts, next } = await store.list(filters, limit, after);
  const pagination: Pagination =
    next === undefined
      ? { hasMore: false }
      : { hasMore: true, nextCursor: sealPage(cursors, LIST, { filters, position: next }) };
  return { items: receipts.map(toReceiptSummaryOut), pagination };
}

function toPosition(position: unknown): number {
  return typeof position === 'number' && Number.isSafeInteger(position) ? position : refuseCursor();
}

/** One receipt with its events. @throws {not-found} @throws {store-unavailable} */
export async function readReceipt(
  { store }: Pick<ReadReceiptsDeps, 'store'>,
  id: string,
): Promise<ReceiptDetailOut> {
  return toReceiptDetailOut((await store.read(id)) ?? refuseReceipt());
}

/** @throws {not-found} always */
export function refuseReceipt(): never {
  throw new TrackportError('not-found', { detail: 'There is no receipt with this id.' });
}
