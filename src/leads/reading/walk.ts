import type { CachedLead, CachedPage } from '../cache/cached-page.ts';
import type { Got } from '../cache/confirmed-cache.ts';
import type { LeadCache } from '../cache/lead-cache.ts';
import {
  compareKeys,
  orderTime,
  toIssueQuery,
  type LeadFilter,
  type OrderKey,
} from './lead-query.ts';
import type { IssueQuery } from '../lead-tracker.ts';

/** Where a walk goes on: behind which lead, and from which upstream page. */
export type WalkPosition = {
  key: OrderKey;
  /** The tracker's cursor of the page to start with; absent for the first. */
  after?: string;
  /** The order's instant of the last row before that page. */
  from?: number;
};

/** One stop of a walk: up to `limit` leads, and where to go on when there are more. */
export type WalkStop = {
  rows: readonly CachedLead[];
  next?: WalkPosition;
  /** Every upstream page that was read, with how it came. */
  seen: readonly { query: IssueQuery; got: Got<CachedPage> }[];
};

export type WalkRequest = {
  filter: LeadFilter;
  limit: number;
  position?: WalkPosition;
  /** Our own last check of every row: claims, and events that are newer than the row. */
  isVisible: (row: CachedLead) => boolean;
};

/** A row that waits to be answered, and the upstream page that holds it. */
type Candidate = { row: CachedLead; key: OrderKey; page: { after?: string; from?: number } };

/**
 * Collects the next `limit` leads behind a position. Positions are keys, not offsets, so what is
 * opened, closed or relabelled between two stops moves nobody else. The tracker breaks ties of one
 * second by its own id and we by number, so rows of a page's last second wait for the next page.
 * @throws {tracker-failed} @throws {tracker-unavailable}
 */
export async function walk(cache: LeadCache, request: WalkRequest): Promise<WalkStop> {
  const base = toIssueQuery(request.filter);
  const seen: { query: IssueQuery; got: Got<CachedPage> }[] = [];
  const candidates = new Map<number, Candidate>();
  let at: { after?: string; from?: number } = pick(request.position);
  for (;;) {
    const query = { ...base, ...(at.after !== undefined && { after: at.after }) };
    const got = await cache.page(query, at.from);
    seen.push({ query, got });
    for (const row of got.entry.value.leads.values())
      offer(candidates, { row, page: at, order: base.order }, request);
    const { after, lastTime } = got.entry.value;
    const settled = [...candidates.values()].filter(
      ({ key }) => after === undefined || key[0] !== lastTime,
    );
    if (after === undefined || (settled.length >= request.limit && candidates.size > request.limit))
      return finish(cache, request, { candidates, seen, base });
    at = { after, ...(lastTime !== undefined && { from: lastTime }) };
  }
}

function pick(position: WalkPosition | undefined): { after?: string; from?: number } {
  return {
    ...(position?.after !== undefined && { after: position.after }),
    ...(position?.from !== undefined && { from: position.from }),
  };
}

function offer(
  candidates: Map<number, Candidate>,
  { row, page, order }: Pick<Candidate, 'row' | 'page'> & Pick<IssueQuery, 'order'>,
  { position, isVisible }: WalkRequest,
): void {
  const key: OrderKey = [orderTime(row.issue, order), row.issue.number];
  if (position && compareKeys(key, position.key, order) <= 0) return;
  if (!isVisible(row)) return;
  const known = candidates.get(row.issue.number);
  if (!known || known.row.issue.updatedAt < row.issue.updatedAt)
    candidates.set(row.issue.number, { row, key, page });
}

function finish(
  cache: LeadCache,
  request: WalkRequest,
  found: { candidates: Map<number, Candidate>; seen: WalkStop['seen']; base: IssueQuery },
): WalkStop {
  const { seen, base } = found;
  const ordered = [...found.candidates.values()].sort((left, right) =>
    compareKeys(left.key, right.key, base.order),
  );
  const taken = ordered.slice(0, request.limit);
  const last = taken.at(-1);
  if (request.position) readAhead(cache, base, seen.at(-1)?.got.entry.value);
  const rest = ordered.slice(request.limit);
  const rows = taken.map(({ row }) => row);
  if (!last || rest.length === 0) return { rows, seen };
  return { rows, seen, next: { key: last.key, ...firstPageOf(rest, seen) } };
}

/** The earliest upstream page that still holds something to answer. */
function firstPageOf(rest: readonly Candidate[], seen: WalkStop['seen']): Candidate['page'] {
  const pages = new Set(rest.map(({ page }) => page.after));
  const first = seen.find(({ query }) => pages.has(query.after));
  return rest.find(({ page }) => page.after === first?.query.after)?.page ?? {};
}

/** Whoever has asked for a second page will ask for a third. */
function readAhead(cache: LeadCache, base: IssueQuery, last: CachedPage | undefined): void {
  if (last?.after !== undefined) cache.readAhead({ ...base, after: last.after }, last.lastTime);
}
