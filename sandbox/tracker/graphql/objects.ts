import { toRfc3339 } from '#shared/clock.ts';
import { issueNodeId } from '../api/documents/issues.ts';
import type { Account, IssueRecord, Repository, Revision } from '../world/model.ts';
import { fullNameOf } from '../world/world.ts';

/** A failure of one field: the response then has null there, and this in `errors`, with status 200. */
export class FieldFailure extends Error {
  /** The tracker's word for it, such as `NOT_FOUND`. */
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.name = 'FieldFailure';
    this.type = type;
  }
}

export function toActor({ kind, login }: Account) {
  return { __typename: kind, login };
}

export function toRepository(repository: Repository) {
  return {
    nameWithOwner: fullNameOf(repository),
    issue: ({ number }: { number: number }) => {
      const issue = repository.issues.byNumber.get(number);
      if (issue && !issue.isPullRequest) return toIssue(repository, issue);
      throw new FieldFailure(
        'NOT_FOUND',
        `Could not resolve to an issue or pull request with the number of ${number}.`,
      );
    },
  };
}

export function toIssue(repository: Repository, issue: IssueRecord) {
  return {
    __typename: 'Issue',
    id: issueNodeId(repository, issue),
    number: issue.number,
    title: issue.title,
    state: issue.state.toUpperCase(),
    userContentEdits: (range: { first?: number; last?: number }) => toEdits(issue, range),
  };
}

/** Newest first; the last is the original, there since the first edit. */
function toEdits(issue: IssueRecord, { first, last }: { first?: number; last?: number }) {
  if (first === undefined && last === undefined)
    throw new FieldFailure(
      'MISSING_PAGINATION_BOUNDARIES',
      'You must provide a `first` or `last` value to properly paginate the `userContentEdits` connection.',
    );
  const all = issue.revisions.toReversed();
  const shown = first === undefined ? all.slice(-(last ?? 0)) : all.slice(0, first);
  return {
    totalCount: all.length,
    nodes: shown.map(toEdit),
    pageInfo: { hasNextPage: shown.length < all.length },
  };
}

function toEdit({ text, editor, deletedAt, deletedBy }: Revision) {
  return {
    diff: text,
    editor: toActor(editor),
    deletedAt: deletedAt === undefined ? null : toRfc3339(deletedAt),
    deletedBy: deletedBy ? toActor(deletedBy) : null,
  };
}
