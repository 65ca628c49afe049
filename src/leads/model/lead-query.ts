/**
 * A read of the lead list: what a caller asks for and may see, what the tracker is asked for it, and which issues
 * meet it.
 */
import { MINUTE, SECOND } from '#shared/clock.ts';
import {
  type CursorSealer,
  type ListName,
  refuseCursor,
  startPage,
} from '#shared/pagination/page.ts';
import { carriesAll, foldLabels } from '#shared/text/labels.ts';
import type { IssueQuery, ListedIssue } from '../lead-tracker.ts';
import type { LeadRules } from './lead.ts';

type LeadState = 'open' | 'closed' | 'all';

/** A read of the list as a caller requests it, already validated. */
export type LeadListQuery = {
  /** 1 to 100. */
  limit: number;
  /** Default `open`, or behind a cursor what its list was read with; so are the other filters. */
  state?: LeadState;
  /** Names in any case and order; a lead carries all of them. */
  labels: readonly string[];
  /** Milliseconds since the Unix epoch, inclusive. Turns the order to longest unchanged first. */
  since?: number;
  cursor?: string;
};

/** The leads that a consumer may see: those that carry all `labels` of its grant. */
export type Visibility = { consumerId: string; labels: readonly string[] };

/** Filters by which a caller narrows the list, called as its parameters. */
type ListFilters = { state?: LeadState; label?: readonly string[]; since?: number };

/** All the conditions that a lead must meet to be in a list. */
export type LeadFilter = {
  state: LeadState;
  /** Folded: the approved label, the visibility's and the query's, each once, in a fixed order. */
  labels: readonly string[];
  /** Milliseconds since the Unix epoch, inclusive. */
  since?: number;
  /** Folded: a label that the lead must not carry. */
  without?: string;
};

/** Sort key of a lead in a list: the instant, then the issue number. */
export type OrderKey = readonly [time: number, number: number];

/** Position of an upstream page. */
export type UpstreamPlace = {
  /** The tracker's cursor of the page; absent for the first. */
  after?: string;
  /** The order's instant of the last row before that page. */
  from?: number;
};

/** The position from which a list goes on: behind a lead, and on an upstream page. */
export type ListPosition = UpstreamPlace & { key: OrderKey };

/** A query with all that reading a page needs, worked out once and passed down. */
export type PreparedQuery = {
  limit: number;
  /** Start of the page; absent: the beginning. */
  position: ListPosition | undefined;
  /** The query for the tracker; for later pages with its cursor. */
  issueQuery: IssueQuery;
  filter: LeadFilter;
  /** Sealed into the cursor to the next page. */
  next: { list: ListName; filter: ListFilters };
  /** Names the whole page: who may see what, filters, limit and cursor. */
  key: string;
};

const CURSOR_KIND = 'leads/2';

/** @throws {invalid-cursor} */
export function prepareQuery(
  { cursors, rules }: { cursors: CursorSealer; rules: Pick<LeadRules, 'approvedLabel'> },
  query: LeadListQuery,
  visibility: Visibility,
): PreparedQuery {
  const { cursor, limit } = query;
  const { approvedLabel } = rules;
  const list = { kind: CURSOR_KIND, binding: bindingOf(visibility, approvedLabel) };
  const start = startPage(cursors, list, { cursor, filter: filtersOf(query) });
  const { filter: filters, position } = start;
  if (position !== undefined && !isPosition(position)) refuseCursor();
  const filter = toFilter(filters, visibility, approvedLabel);
  return {
    limit,
    position,
    filter,
    issueQuery: toIssueQuery(filter),
    next: { list, filter: filters },
    key: JSON.stringify([list.binding, filters, limit, cursor]),
  };
}

/** The filters that a query names, in a form in which the same ones are equal. */
function filtersOf({ state, labels, since }: LeadListQuery): ListFilters {
  return { state, ...(labels.length > 0 && { label: foldLabels(labels) }), since };
}

/** One filter of all that a caller requests and may see. */
export function toFilter(
  { state = 'open', label = [], since }: ListFilters,
  visibility: Pick<Visibility, 'labels'>,
  approvedLabel: string,
): LeadFilter {
  return { state, labels: foldLabels([approvedLabel, ...visibility.labels, ...label]), since };
}

/**
 * The query for the tracker. `since` is rounded down to a whole minute, at least a second
 * early: clients that poll share a query, and the tracker's own edge of `since` is not known.
 */
export function toIssueQuery(filter: LeadFilter): IssueQuery {
  const early = filter.since === undefined ? undefined : filter.since - SECOND;
  return {
    state: filter.state,
    labels: filter.labels,
    ...(early === undefined
      ? { order: 'created-desc' as const }
      : { order: 'updated-asc' as const, since: Math.max(0, early - (early % MINUTE)) }),
  };
}

/** Binds a cursor to the consumer and to what it may see. */
function bindingOf(visibility: Visibility, approvedLabel: string): string {
  return JSON.stringify([visibility.consumerId, foldLabels(visibility.labels), approvedLabel]);
}

function isPosition(value: unknown): value is ListPosition {
  return typeof value === 'object' && value !== null && 'key' in value && Array.isArray(value.key);
}

/** Our own check of every row; the tracker's filter only saves calls. */
export function matchesFilter(issue: ListedIssue, filter: LeadFilter): boolean {
  return (
    !issue.isPullRequest &&
    (filter.state === 'all' || issue.state === filter.state) &&
    (filter.since === undefined || issue.updatedAt >= filter.since) &&
    carriesAll(issue, filter.labels) &&
    (filter.without === undefined || !carriesAll(issue, [filter.without]))
  );
}

/** The instant that an order sorts by. */
export function orderTime(issue: ListedIssue, order: IssueQuery['order']): number {
  return order === 'created-desc' ? issue.createdAt : issue.updatedAt;
}
