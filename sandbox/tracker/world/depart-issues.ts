import { type IssueTarget, publishIssueChange } from './change-issues.ts';
import { labelsNamed } from './change-labels.ts';
import { repositoryDocument } from '../api/documents/repository.ts';
import { issueDocument } from '../api/documents/issues.ts';
import type { IssueRecord, Repository, World } from './model.ts';
import { commitIssue, nextId, withdrawIssue } from './world.ts';

/** Deletes for good: body, history and comments are gone, readers get 410 from now on. */
export function deleteIssue(world: World, target: IssueTarget): void {
  const { repository, issue } = target;
  repository.departures.set(issue.number, { kind: 'deleted' });
  withdrawIssue(world, repository, issue.number);
  publishIssueChange(world, target, { action: 'deleted', issue });
}

/** Moves an issue: it gets a number and an id of the other repository, the old number redirects. */
export function transferIssue(
  world: World,
  target: IssueTarget,
  destination: Repository,
): IssueRecord {
  const { repository, issue, by } = target;
  const number = destination.nextNumber;
  destination.nextNumber += 1;
  const names = issue.labels.map(({ name }) => name);
  const moved = commitIssue(world, destination, {
    ...issue,
    id: nextId(world),
    number,
    labels: labelsNamed(world, { repository: destination, by }, names),
  });
  repository.departures.set(issue.number, {
    kind: 'transferred',
    repositoryId: destination.id,
    number,
  });
  withdrawIssue(world, repository, issue.number);
  publishTransfer(world, target, { destination, moved });
  return moved;
}

function publishTransfer(
  world: World,
  target: IssueTarget,
  { destination, moved }: { destination: Repository; moved: IssueRecord },
): void {
  const { repository, issue, by } = target;
  publishIssueChange(world, target, {
    action: 'transferred',
    issue,
    changes: () => ({
      new_issue: issueDocument(world, destination, moved),
      new_repository: repositoryDocument(world, destination),
    }),
  });
  publishIssueChange(
    world,
    { repository: destination, by },
    {
      action: 'opened',
      issue: moved,
      changes: () => ({
        old_issue: issueDocument(world, repository, issue),
        old_repository: repositoryDocument(world, repository),
      }),
    },
  );
}
