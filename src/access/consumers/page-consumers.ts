import {
  type CursorSealer,
  type Pagination,
  paginationOf,
  refuseCursor,
} from '#shared/pagination/page.ts';
import type { Consumer, ConsumerId } from './consumer.ts';
import type { ConsumerPosition, ConsumerStore } from '../consumer-store.ts';

const CURSOR_KIND = 'consumers/1';
const BINDING = ''; // the list has no filters, and everybody who may see it sees all of it

export type PageConsumersDeps = { store: ConsumerStore; cursors: CursorSealer };

/**
 * One page of consumers, oldest first. `limit` may change from page to page.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function pageConsumers(
  { store, cursors }: PageConsumersDeps,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<{ items: Consumer[]; pagination: Pagination }> {
  const after = cursor === undefined ? undefined : openCursor(cursors, cursor);
  const { items, hasMore } = await store.list({ limit, after });
  const last = hasMore ? items.at(-1) : undefined;
  const next = last && cursors.seal(CURSOR_KIND, BINDING, [last.createdAt, last.id]);
  return { items, pagination: paginationOf(next) };
}

function openCursor(cursors: CursorSealer, cursor: string): ConsumerPosition {
  const position = cursors.open(CURSOR_KIND, BINDING, cursor);
  const [createdAt, id] = Array.isArray(position) ? (position as unknown[]) : [];
  return typeof createdAt === 'number' && typeof id === 'string'
    ? { createdAt, id: id as ConsumerId }
    : refuseCursor();
}
