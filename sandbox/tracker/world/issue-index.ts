import type { IssueIndex, IssueRecord, SortKey } from './model.ts';

const KEPT_ORDERS: readonly SortKey[] = ['created', 'updated'];

export function createIssueIndex(): IssueIndex {
  return { byNumber: new Map(), ordered: new Map() };
}

const SORT_VALUES: Record<SortKey, (record: IssueRecord) => number> = {
  created: (record) => record.createdAt,
  updated: (record) => record.updatedAt,
  comments: (record) => record.comments.length,
  id: (record) => record.id,
};

/** The value that a sort key orders by: an instant, a count, or the id. */
export function sortValue(record: IssueRecord, sort: SortKey): number {
  return SORT_VALUES[sort](record);
}

/** Every issue in ascending order. Not to be changed by the caller. */
export function inOrder(index: IssueIndex, sort: SortKey): readonly IssueRecord[] {
  let rows = index.ordered.get(sort);
  if (!rows) {
    rows = [...index.byNumber.values()].sort((left, right) => compare(left, right, sort));
    index.ordered.set(sort, rows);
  }
  return rows;
}

/** Puts a record in place of the one with the same number. The two common orders stay as they are. */
export function putIssue(index: IssueIndex, record: IssueRecord): void {
  takeOut(index, record.number);
  index.byNumber.set(record.number, record);
  for (const sort of KEPT_ORDERS) {
    const rows = index.ordered.get(sort);
    rows?.splice(firstNotBefore(rows, record, sort), 0, record);
  }
}

/** Puts many records at once: the orders are made anew when they are next read. */
export function putIssues(index: IssueIndex, records: readonly IssueRecord[]): void {
  for (const record of records) index.byNumber.set(record.number, record);
  index.ordered.clear();
}

export function removeIssue(index: IssueIndex, number: number): void {
  takeOut(index, number);
  index.byNumber.delete(number);
}

function takeOut(index: IssueIndex, number: number): void {
  const old = index.byNumber.get(number);
  index.ordered.delete('comments');
  index.ordered.delete('id');
  if (!old) return;
  for (const sort of KEPT_ORDERS) {
    const rows = index.ordered.get(sort);
    rows?.splice(firstNotBefore(rows, old, sort), 1);
  }
}

function firstNotBefore(rows: readonly IssueRecord[], record: IssueRecord, sort: SortKey): number {
  return lowerBound(rows.length, (at) => {
    const row = rows[at];
    return row !== undefined && compare(row, record, sort) < 0;
  });
}

function compare(left: IssueRecord, right: IssueRecord, sort: SortKey): number {
  return sortValue(left, sort) - sortValue(right, sort) || left.id - right.id;
}

/** The first position of 0…length for which `isBefore` is false; it must be true, then false. */
export function lowerBound(length: number, isBefore: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
