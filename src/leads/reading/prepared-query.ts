import { MINUTE, SECOND } from '#shared/clock.ts';
import {
  type CursorSealer,
  type ListName,
  refuseCursor,
  startPage,
} from '#shared/pagination/page.ts';

import type { IssueQuery } from '../lead-tracker.ts';
import type { LeadFilter, LeadState } from '../model/filter.ts';
import { foldLabels } from '../model/labels.ts';
import type { WalkPosition, WalkQuery } from './walk.ts';

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

/** A query with all that reading a page needs, worked out once and passed down. */
export type PreparedQuery = WalkQuery & {
  filter: LeadFilter;
  /** Sealed into the cursor to the next page. */
  next: { list: ListName; filter: ListFilters };
  /** Names the whole page: who may see what, filters, limit and cursor. */
  key: string;
};

const CURSOR_KIND = 'leads/2';

/** @throws {invalid-cursor} */
export function prepareQuery(
  { cursors, approvedLabel }: { cursors: CursorSealer; approvedLabel: string },
  query: LeadListQuery,
  visibility: Visibility,
): PreparedQuery {
  const { cursor, limit } = query;
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

function isPosition(value: unknown): value is WalkPosition {
  return typeof value === 'object' && value !== null && 'key' in value && Array.isArray(value.key);
}
