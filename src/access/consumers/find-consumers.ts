import { z } from 'zod';
import { type Clock, DAY } from '#shared/clock.ts';
import {
  type CursorSealer,
  type Page,
  type PageRequest,
  type Pagination,
  readPage,
} from '#shared/pagination/page.ts';
import type { Statements } from '#shared/database.ts';
import {
  type Consumer,
  type ConsumerStatus,
  foldConsumerName,
  nextExpiry,
  statusAt,
} from './consumer.ts';
import { listConsumers } from './stored-consumers.ts';

/** Every condition that is given must hold. */
export type ConsumerFilter = {
  /** Part of the name, without regard to case, or of an id, or of a key id. */
  text?: string;
  status?: ConsumerStatus;
  /** A key that works now ends within so many days. */
  endsWithinDays?: number;
};

/** Consumers that are looked at for one page of those that fit. */
const LOOKED_AT_MAX = 2000;
const STEP = 100;

/**
 * One page of the consumers that fit, oldest first. A page may have fewer than `limit` and still more
 * to follow: it looks at 2,000 consumers at most.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function findConsumers(
  { db, cursors, clock }: { db: Statements; cursors: CursorSealer; clock: Clock },
  { filter, limit, cursor }: PageRequest & { filter: ConsumerFilter },
): Promise<Page<Consumer>> {
  const now = clock.now();
  const items: Consumer[] = [];
  let pagination: Pagination = { hasMore: true, nextCursor: cursor };
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MAX && pagination.hasMore;) {
    // Never more than what is missing, so that the cursor stands right behind the last that fits.
    const step = Math.min(STEP, limit - items.length);
    if (step === 0) break;
    const { nextCursor } = pagination;
    const page = await pageConsumers({ db, cursors }, { limit: step, cursor: nextCursor });
    items.push(...page.items.filter((consumer) => fits(consumer, filter, now)));
    lookedAt += page.items.length;
    pagination = page.pagination;
  }
  return { items, pagination };
}

function fits(consumer: Consumer, filter: ConsumerFilter, now: number): boolean {
  const { text, status, endsWithinDays } = filter;
  if (status !== undefined && statusAt(consumer, now) !== status) return false;
  if (text !== undefined && !isNamed(consumer, text)) return false;
  if (endsWithinDays === undefined) return true;
  const end = nextExpiry(consumer, now);
  return consumer.state === 'active' && end !== undefined && end - now <= endsWithinDays * DAY;
}

function isNamed({ name, id, keys }: Consumer, text: string): boolean {
  const wanted = foldConsumerName(text);
  return [name, id, ...keys.map(({ keyId }) => keyId)].some((known) =>
    foldConsumerName(known).includes(wanted),
  );
}

/** Whoever may see it sees all of it. */
const CONSUMERS = {
  kind: 'consumers/1',
  binding: '',
  position: z.tuple([z.number(), z.string()]),
};

/** One page of consumers, oldest first. @throws {invalid-cursor} @throws {store-unavailable} */
export async function pageConsumers(
  { db, cursors }: { db: Statements; cursors: CursorSealer },
  page: PageRequest,
): Promise<Page<Consumer>> {
  const request = { ...page, filter: undefined };
  return readPage(cursors, CONSUMERS, request, (range) => listConsumers(db, range));
}
