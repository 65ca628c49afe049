import { MINUTE, SECOND } from '#shared/clock.ts';

import { carriesAll, foldLabels } from '../model/lead.ts';
import type { LeadListQuery, LeadState, Visibility } from './lead-reads.ts';
import type { Issue, IssueQuery } from '../lead-tracker.ts';

const SINCE =
  /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+\- ]([01]\d|2[0-3]):[0-5]\d))?$/i;

/**
 * Milliseconds since the Unix epoch of an RFC 3339 date-time with a zone, or of a date (midnight,
 * UTC). A space before the offset is a `+` that a form decoder took. Undefined for anything else.
 */
export function parseSince(text: string): number | undefined {
  const date = SINCE.exec(text)?.[1];
  if (date === undefined || !isCalendarDate(date)) return undefined;
  return Date.parse(text.replace(' ', '+').toUpperCase());
}

/** Refuses 30 February, which `Date.parse` would make the 2nd of March. */
function isCalendarDate(date: string): boolean {
  const midnight = Date.parse(date);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
}

/** Label names from repeated and comma-separated parameter values; blanks are dropped. */
export function splitLabels(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** A list query in the form that everything below works with. */
export type LeadFilter = {
  state: LeadState;
  /** Folded: the approved label, the visibility's and the query's, each once, in a fixed order. */
  labels: readonly string[];
  since?: number;
};

/** What a caller narrows the list by, called as its parameters. */
export type LeadFilters = { state?: LeadState; label?: readonly string[]; since?: number };

/** The filters that a query names, in a form in which the same ones are equal. */
export function namedFilters({ state, labels, since }: LeadListQuery): LeadFilters {
  return {
    ...(state !== undefined && { state }),
    ...(labels.length > 0 && { label: foldLabels(labels) }),
    ...(since !== undefined && { since }),
  };
}

/** All the conditions that a lead must meet to be in the list. */
export function toFilter(
  { state = 'open', label = [], since }: LeadFilters,
  visibility: Pick<Visibility, 'labels'>,
  approvedLabel: string,
): LeadFilter {
  return {
    state,
    labels: foldLabels([approvedLabel, ...visibility.labels, ...label]),
    ...(since !== undefined && { since }),
  };
}

/** Our own check of every answer; the tracker's filter only saves calls. */
export function matchesFilter(issue: Issue, filter: LeadFilter): boolean {
  return (
    !issue.isPullRequest &&
    (filter.state === 'all' || issue.state === filter.state) &&
    (filter.since === undefined || issue.updatedAt >= filter.since) &&
    carriesAll(issue, filter.labels)
  );
}

/**
 * What is asked of the tracker. `since` is rounded down to a whole minute, at least a second
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

/** What a cursor must not be used without: what the consumer may see. */
export function cursorBinding(visibility: Visibility, approvedLabel: string): string {
  return JSON.stringify([visibility.consumerId, foldLabels(visibility.labels), approvedLabel]);
}

/** The instant that an order sorts by. */
export function orderTime(issue: Issue, order: IssueQuery['order']): number {
  return order === 'created-desc' ? issue.createdAt : issue.updatedAt;
}

/** A place in a list: the instant it is sorted by, then the issue number. */
export type OrderKey = readonly [time: number, number: number];

/** Negative when `left` comes first in the list. */
export function compareKeys(left: OrderKey, right: OrderKey, order: IssueQuery['order']): number {
  const ascending = left[0] - right[0] || left[1] - right[1];
  return order === 'created-desc' ? -ascending : ascending;
}
