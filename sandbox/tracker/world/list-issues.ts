import type { Cursor } from '../api/documents/cursor.ts';
import { inOrder, lowerBound, sortValue } from './issue-index.ts';
import type { IssueIndex, IssueRecord, SortKey } from './model.ts';

export type ListQuery = {
  state: 'open' | 'closed' | 'all';
  /** Lower case; all of them must be on the issue. */
  labels: readonly string[];
  sort: SortKey;
  descending: boolean;
  /** Milliseconds; issues changed at or after it. */
  since?: number;
  creator?: string;
  assignee?: string;
  perPage: number;
  /** From 1; counts only when no cursor is given. */
  page: number;
  after?: Cursor;
  before?: Cursor;
};

export type IssueRows = { rows: IssueRecord[]; hasNext: boolean; hasPrevious: boolean };

/** One page by value: a cursor is a predicate on (sort value, id), so its row may be gone by now. */
export function listIssues(index: IssueIndex, query: ListQuery): IssueRows {
  const view = viewOf(index, query);
  return query.before && !query.after
    ? rowsBefore(view, query, query.before)
    : rowsFrom(view, query);
}

/** The ordered rows as the query's direction walks them. */
type View = { length: number; at(position: number): IssueRecord | undefined };

function viewOf(index: IssueIndex, query: ListQuery): View {
  const rows = inOrder(index, query.sort);
  const last = rows.length - 1;
  return { length: rows.length, at: (at) => rows[query.descending ? last - at : at] };
}

function rowsFrom(view: View, query: ListQuery): IssueRows {
  const start = query.after ? positionBehind(view, query, query.after) : firstSince(view, query);
  let skip = query.after ? 0 : (query.page - 1) * query.perPage;
  const rows: IssueRecord[] = [];
  for (let at = start; at < view.length; at += 1) {
    const row = view.at(at);
    if (!row || !matches(row, query)) continue;
    if (skip > 0) skip -= 1;
    else if (rows.length < query.perPage) rows.push(row);
    else return { rows, hasNext: true, hasPrevious: hasBefore(view, query, start) };
  }
  return { rows, hasNext: false, hasPrevious: hasBefore(view, query, start) };
}

function rowsBefore(view: View, query: ListQuery, before: Cursor): IssueRows {
  const rows: IssueRecord[] = [];
  let hasPrevious = false;
  const end = lowerBound(view.length, (at) => order(view.at(at), before, query) < 0);
  for (let at = end - 1; at >= 0 && !hasPrevious; at -= 1) {
    const row = view.at(at);
    if (!row || !matches(row, query)) continue;
    if (rows.length < query.perPage) rows.push(row);
    else hasPrevious = true;
  }
  return { rows: rows.reverse(), hasNext: true, hasPrevious };
}

function hasBefore(view: View, query: ListQuery, start: number): boolean {
  if (!query.after) return query.page > 1;
  for (let at = start - 1; at >= 0; at -= 1) {
    const row = view.at(at);
    if (row && matches(row, query)) return true;
  }
  return false;
}

function positionBehind(view: View, query: ListQuery, cursor: Cursor): number {
  return lowerBound(view.length, (at) => order(view.at(at), cursor, query) <= 0);
}

/** With the longest unchanged first, everything older than `since` need not be walked. */
function firstSince(view: View, { since, sort, descending }: ListQuery): number {
  if (since === undefined || sort !== 'updated' || descending) return 0;
  return lowerBound(view.length, (at) => (view.at(at)?.updatedAt ?? 0) < since);
}

function order(row: IssueRecord | undefined, cursor: Cursor, query: ListQuery): number {
  if (!row) return 0;
  const ascending = sortValue(row, query.sort) - cursor.value || row.id - cursor.id;
  return query.descending ? -ascending : ascending;
}

function matches(row: IssueRecord, query: ListQuery): boolean {
  return (
    (query.state === 'all' || row.state === query.state) &&
    (query.since === undefined || row.updatedAt >= query.since) &&
    query.labels.every((name) => row.labels.some((label) => label.name.toLowerCase() === name)) &&
    (query.creator === undefined || sameLogin(row.author?.login, query.creator)) &&
    (query.assignee === undefined || isAssigned(row, query.assignee))
  );
}

function isAssigned(row: IssueRecord, assignee: string): boolean {
  if (assignee === 'none') return row.assignees.length === 0;
  if (assignee === '*') return row.assignees.length > 0;
  return row.assignees.some((account) => sameLogin(account.login, assignee));
}

function sameLogin(left: string | undefined, right: string): boolean {
  return left?.toLowerCase() === right.toLowerCase();
}
