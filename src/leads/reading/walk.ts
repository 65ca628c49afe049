import type { IssueQuery } from '../lead-tracker.ts';
import {
  type ListPosition,
  type OrderKey,
  orderTime,
  type PreparedQuery,
  type UpstreamPlace,
} from '../model/lead-query.ts';
import type { LeadCache } from './lead-cache.ts';
import type { CachedLead, SeenPage } from './upstream-page.ts';

/** One stop of a walk: up to `limit` leads, and where to go on when there are more. */
export type WalkStop = {
  rows: readonly CachedLead[];
  next?: ListPosition;
  /** Every upstream page that was read. */
  seen: readonly SeenPage[];
};

/** A row that may be on the page, and the upstream page that holds it. */
type Candidate = { row: CachedLead; key: OrderKey; page: UpstreamPlace };

/**
 * Collects the next `limit` leads behind a position. Positions are keys, not offsets, so what is
 * opened, closed or relabelled between two stops moves nobody else. The tracker breaks ties of one
 * second by its own id and we by number, so rows of a page's last second wait for the next page.
 * `isVisible` is our own last check of every row: claims, and events that are newer than the row.
 * @throws {tracker-failed} @throws {tracker-unavailable}
 */
export async function walk(
  cache: LeadCache,
  { limit, position, issueQuery }: Pick<PreparedQuery, 'limit' | 'position' | 'issueQuery'>,
  isVisible: (row: CachedLead) => boolean,
): Promise<WalkStop> {
  const { order } = issueQuery;
  const seen: SeenPage[] = [];
  const candidates = new Map<number, Candidate>();
  let at: UpstreamPlace = { after: position?.after, from: position?.from };
  for (;;) {
    const query = { ...issueQuery, after: at.after };
    const result = await cache.page(query, at.from);
    seen.push({ query, result });
    const { leads, after, lastTime } = result.entry.value;
    for (const row of leads.values()) {
      const key: OrderKey = [orderTime(row.issue, order), row.issue.number];
      const isBehind = !position || compareKeys(key, position.key, order) > 0;
      if (isBehind && isVisible(row)) offer(candidates, { row, key, page: at });
    }
    const found = [...candidates.values()];
    if (after === undefined) return finish(found, seen, { limit, order });
    const settled = found.filter(({ key }) => key[0] !== lastTime).length;
    if (settled >= limit && found.length > limit) {
      // A caller that wanted a second page will want a third.
      if (position) cache.readAhead({ ...issueQuery, after }, lastTime);
      return finish(found, seen, { limit, order });
    }
    at = { after, from: lastTime };
  }
}

/** Negative when `left` comes first in the list. */
function compareKeys(left: OrderKey, right: OrderKey, order: IssueQuery['order']): number {
  const ascending = left[0] - right[0] || left[1] - right[1];
  return order === 'created-desc' ? -ascending : ascending;
}

/** Of a lead that stands on two upstream pages the newer row counts. */
function offer(candidates: Map<number, Candidate>, candidate: Candidate): void {
  const { number, updatedAt } = candidate.row.issue;
  const known = candidates.get(number);
  if (!known || known.row.issue.updatedAt < updatedAt) candidates.set(number, candidate);
}

function finish(
  candidates: readonly Candidate[],
  seen: readonly SeenPage[],
  { limit, order }: { limit: number; order: IssueQuery['order'] },
): WalkStop {
  const ordered = candidates.toSorted((left, right) => compareKeys(left.key, right.key, order));
  const taken = ordered.slice(0, limit);
  const rest = ordered.slice(limit);
  const rows = taken.map(({ row }) => row);
  const last = taken.at(-1);
  if (!last || rest.length === 0) return { rows, seen };
  return { rows, seen, next: { key: last.key, ...firstPageOf(rest, seen) } };
}

/** The earliest upstream page that still holds a row for the next page. */
function firstPageOf(rest: readonly Candidate[], seen: readonly SeenPage[]): UpstreamPlace {
  const pages = new Set(rest.map(({ page }) => page.after));
  const first = seen.find(({ query }) => pages.has(query.after));
  return rest.find(({ page }) => page.after === first?.query.after)?.page ?? {};
}
