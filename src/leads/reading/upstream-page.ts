import { memoize } from '#shared/caching.ts';
import type { Issue, IssueQuery, ListedIssue, PageResult } from '../lead-tracker.ts';
import { type Lead, renderLead } from '../model/lead-out.ts';
import { matchesFilter, orderTime } from '../model/lead-query.ts';
import { isApproved, type LeadRules, mapIssues, textLength, toLead } from '../model/lead.ts';
import type { CacheResult, Entry, Loaded } from './confirmed-cache.ts';
import { type IssueEvent, lagsBehind } from './recent-events.ts';

/** An approved issue in memory, without its body: what is needed of it is in `lead`. */
export type CachedLead = { issue: Issue; lead: Lead };

/** One upstream page of 100, reduced to its leads. */
export type UpstreamPage = {
  query: IssueQuery;
  /** The order's instant of the last row of the page before, when that is known. */
  from?: number;
  /** By issue number, in the order of the page. */
  leads: ReadonlyMap<number, CachedLead>;
  /** The order's instant of the last row, pull requests and others included. */
  lastTime?: number;
  /** The tracker's cursor of the next page. */
  after?: string;
  bytes: number;
};

/** A page that was read, with how it came. */
export type SeenPage = { query: IssueQuery; result: CacheResult<UpstreamPage> };

/** Estimated cost of a lead in memory beside its texts. */
export const LEAD_OVERHEAD_BYTES = 1000;

/** The tracker's response as it is cached; the same page object as long as nothing in it changed. */
export async function toLoadedPage(
  result: PageResult,
  context: {
    query: IssueQuery;
    from: number | undefined;
    cached: Entry<UpstreamPage> | undefined;
    rules: LeadRules;
  },
): Promise<Loaded<UpstreamPage>> {
  const { query, from, cached, rules } = context;
  if (result.kind === 'unchanged') {
    if (!cached) throw new Error('the tracker said "unchanged" to an unconditional request');
    // Without a cursor the old one still names the place behind the last row (RFC 9111 §4.3.4).
    const after = result.after ?? cached.value.after;
    const value =
      after === undefined || after === cached.value.after
        ? cached.value
        : { ...cached.value, after };
    return { value, validator: cached.validator };
  }
  const { issues, after } = result.page;
  const approved = issues.filter(
    (issue) => matchesFilter(issue, query) && isApproved(issue, rules),
  );
  const last = issues.at(-1);
  let bytes = 0;
  const value: UpstreamPage = {
    query,
    from,
    leads: new Map(
      await mapIssues(approved, (issue) => {
        const lead = toLead(issue, rules);
        renderLead(lead);
        bytes += LEAD_OVERHEAD_BYTES + Math.max(issue.body.length, textLength(lead)) * 2;
        return [issue.number, { issue: withoutBody(issue), lead }];
      }),
    ),
    ...(last && { lastTime: orderTime(last, query.order) }),
    after,
    bytes,
  };
  return { value, validator: result.validator };
}

/** True when the event can change what the page holds. */
export function pageConcerns(page: UpstreamPage, { issue }: IssueEvent): boolean {
  return page.leads.has(issue.number) || (covers(page, issue) && matchesFilter(issue, page.query));
}

/** True when the page, as fetched, shows less than the event said. */
export function pageLags(page: UpstreamPage, event: IssueEvent): boolean {
  const row = page.leads.get(event.issue.number);
  if (row) return lagsBehind(row.issue, event);
  return !event.isGone && covers(page, event.issue) && matchesFilter(event.issue, page.query);
}

/** True when an issue of this instant would stand on this page. Unknown bounds count as open. */
function covers({ query, from, lastTime, after }: UpstreamPage, issue: ListedIssue): boolean {
  const sign = query.order === 'created-desc' ? -1 : 1;
  const time = orderTime(issue, query.order) * sign;
  const isBehindStart = from === undefined || time >= from * sign;
  const isBeforeEnd = after === undefined || lastTime === undefined || time <= lastTime * sign;
  return isBehindStart && isBeforeEnd;
}

/** Names a page by its whole query; `labels` are folded and sorted already. */
export const pageKey: (query: IssueQuery) => string = memoize(
  ({ order, state, since, labels, after }: IssueQuery) =>
    JSON.stringify([order, state, since ?? 0, labels, after ?? '']),
);

/** Bodies and fields hold personal data and are big: what is needed of them has been read. */
export function withoutBody(issue: Issue): Issue {
  return { ...issue, body: '', fieldValues: undefined };
}
