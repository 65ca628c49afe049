import { type IssueTarget, touched } from './change-issues.ts';
import type { Comment, Repository, World } from './model.ts';
import { commitIssue, nextId, nowInSeconds, publish } from './world.ts';

/** Adds a comment; the issue's `updatedAt` moves. */
export function addComment(world: World, target: IssueTarget, body: string): Comment {
  const now = nowInSeconds(world);
  const comment = { id: nextId(world), body, author: target.by, createdAt: now, updatedAt: now };
  putComments(world, target, [...target.issue.comments, comment]);
  publishComment(world, target, { action: 'created', comment });
  return comment;
}

export function editComment(
  world: World,
  target: IssueTarget,
  change: { comment: Comment; body: string },
): Comment {
  const comment = { ...change.comment, body: change.body, updatedAt: nowInSeconds(world) };
  const comments = target.issue.comments.map((other) =>
    other.id === comment.id ? comment : other,
  );
  putComments(world, target, comments);
  publishComment(world, target, { action: 'edited', comment });
  return comment;
}

export function deleteComment(world: World, target: IssueTarget, comment: Comment): void {
  putComments(
    world,
    target,
    target.issue.comments.filter((other) => other.id !== comment.id),
  );
  publishComment(world, target, { action: 'deleted', comment });
}

/** The comment with this id and its issue. Walks the issues: comments are few here. */
export function findComment(repository: Repository, id: number) {
  for (const issue of repository.issues.byNumber.values()) {
    const comment = issue.comments.find((other) => other.id === id);
    if (comment) return { issue, comment };
  }
  return undefined;
}

function putComments(world: World, target: IssueTarget, comments: Comment[]): void {
  const updatedAt = touched(world, target.issue);
  commitIssue(world, target.repository, { ...target.issue, comments, updatedAt });
}

function publishComment(
  world: World,
  { repository, issue, by }: IssueTarget,
  change: { action: string; comment: Comment },
): void {
  const current = repository.issues.byNumber.get(issue.number) ?? issue;
  publish(world, { event: 'issue_comment', repository, sender: by, issue: current, ...change });
}
