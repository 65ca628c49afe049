import { refuse, TrackportError } from '#shared/errors.ts';
import {
  type CursorSealer,
  type Pagination,
  paginationOf,
  refuseCursor,
  sealPage,
  startPage,
} from '#shared/pagination/page.ts';
import {
  type ReceiptDetailOut,
  type ReceiptSummaryOut,
  toReceiptDetailOut,
  toReceiptSummaryOut,
} from './receipt-out.ts';
import type { ReceiptDetail, ReceiptSummary } from './receipt.ts';
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

/** The same with all that is known of each. */
export type ReceiptPage = { receipts: readonly ReceiptSummary[]; pagination: Pagination };

/** One page as the admin API and the command line show it. Throws as `pageReceipts`. */
export async function listReceipts(
  deps: ReadReceiptsDeps,
  query: ReceiptListQuery,
): Promise<ReceiptList> {
  const { receipts, pagination } = await pageReceipts(deps, query);
  return { items: receipts.map(toReceiptSummaryOut), pagination };
}

/**
 * One page of receipts, newest first.
 * @throws {validation-failed} @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function pageReceipts(
  { store, cursors }: ReadReceiptsDeps,
  { filter, limit, cursor }: ReceiptListQuery,
): Promise<ReceiptPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    refuse([{ parameter: 'limit', code: 'out-of-range', detail: `limit is 1 to ${LIMIT_MAX}.` }]);
  const { filters, position } = startPage(cursors, LIST, { cursor, filters: filter });
  const after = position === undefined ? undefined : toPosition(position);
  const { receipts, next } = await store.list(filters, limit, after);
  const nextCursor =
    next === undefined ? undefined : sealPage(cursors, LIST, { filters, position: next });
  return { receipts, pagination: paginationOf(nextCursor) };
}

function toPosition(position: unknown): number {
  return typeof position === 'number' && Number.isSafeInteger(position) ? position : refuseCursor();
}

/** One receipt as the admin API and the command line show it. Throws as `findReceipt`. */
export async function readReceipt(
  deps: Pick<ReadReceiptsDeps, 'store'>,
  id: string,
): Promise<ReceiptDetailOut> {
  return toReceiptDetailOut(await findReceipt(deps, id));
}

/** One receipt with its events. @throws {not-found} @throws {store-unavailable} */
export async function findReceipt(
  { store }: Pick<ReadReceiptsDeps, 'store'>,
  id: string,
): Promise<ReceiptDetail> {
  return (await store.read(id)) ?? refuseReceipt();
}

/** @throws {not-found} always */
export function refuseReceipt(): never {
  throw new TrackportError('not-found', { detail: 'There is no receipt with this id.' });
}
