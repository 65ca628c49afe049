import type { ListedIssue, IssueQuery } from '../lead-tracker.ts';
import { carriesAll } from './labels.ts';

export type LeadState = 'open' | 'closed' | 'all';

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
