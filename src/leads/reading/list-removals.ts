import { z } from 'zod';
import { type Clock, DAY, toRfc3339 } from '#shared/clock.ts';
import { instantOut } from '#shared/instant-out.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import {
  type CursorSealer,
  paginationOf,
  paginationOut,
  refuseCursor,
  sealPage,
  startPage,
} from '#shared/pagination/page.ts';
import type { ClaimStore, Removal } from '../claims/claim-store.ts';
import { foldLabels } from '../model/labels.ts';
import type { Visibility } from './prepared-query.ts';

/** How long a removal can be read. */
const READABLE_MS = 30 * DAY;
const CURSOR_KIND = 'removals/2';

/** A read of the removals, already validated. */
export type RemovalListQuery = {
  /** 1 to 100. */
  limit: number;
  /** Milliseconds since the Unix epoch, inclusive. */
  since?: number;
  cursor?: string;
};

/** A lead that is not there any more. */
const removalOut = z
  .object({
    id: z.string().describe('The issue number as text.'),
    removedAt: instantOut,
  })
  .meta({ id: 'Removal', description: 'A lead that a deletion took away.' });

/** Leads that went out of sight, oldest removal first. Nothing else of them leaves the service. */
export const removalListOut = z
  .object({ items: z.array(removalOut).readonly(), pagination: paginationOut })
  .meta({ id: 'RemovalList' });

export type RemovalList = z.infer<typeof removalListOut>;

export type ListRemovalsDeps = {
  claims: Pick<ClaimStore, 'listRemovals'>;
  cursors: CursorSealer;
  clock: Pick<Clock, 'now'>;
};

/**
 * One page of the leads that deletions took away in the last 30 days and that a grant like this
 * consumer's could ever read: it may have a copy of a lead that had lost its approval by then. A lead
 * that was given back is not among them.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function listRemovals(
  { claims, cursors, clock }: ListRemovalsDeps,
  query: RemovalListQuery,
  visibility: Visibility,
): Promise<RemovalList> {
  const labels = foldLabels(visibility.labels);
  const list = { kind: CURSOR_KIND, binding: JSON.stringify([visibility.consumerId, labels]) };
  const { cursor, since } = query;
  const { filters, position } = startPage(cursors, list, { cursor, filters: { since } });
  const found = await claims.listRemovals({
    since: Math.max(filters.since ?? 0, clock.now() - READABLE_MS),
    labels,
    limit: query.limit + 1,
    ...(position !== undefined && { after: toRemoval(position) }),
  });
  const { items, last } = cutPage(found, query.limit);
  const next =
    last && sealPage(cursors, list, { filters, position: [last.removedAt, last.number] });
  return { items: items.map(toRemovalOut), pagination: paginationOf(next) };
}

function toRemovalOut({ number, removedAt }: Removal): RemovalList['items'][number] {
  return { id: String(number), removedAt: toRfc3339(removedAt) };
}

function toRemoval(position: unknown): Removal {
  const [removedAt, number] = Array.isArray(position) ? (position as unknown[]) : [];
  if (typeof removedAt !== 'number' || typeof number !== 'number') return refuseCursor();
  return { removedAt, number };
}
