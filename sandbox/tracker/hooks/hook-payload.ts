import {
  accountDocument,
  commentDocument,
  issueDocument,
  labelDocument,
} from '../api/documents/issues.ts';
import {
  changedFieldDocuments,
  changedValueDocument,
  issueTypeDocument,
} from '../api/documents/attributes.ts';
import type { TrackerChange, World } from '../world/model.ts';
import { repositoryDocument } from '../api/documents/repository.ts';

/** The payload of a change, in the shape of the real webhooks. */
export function payloadOf(world: World, change: TrackerChange): Record<string, unknown> {
  const { repository, issue, comment, label, assignee, issueType, fieldValue, formerValue } =
    change;
  return {
    action: change.action,
    ...(issue ? { issue: issueDocument(world, repository, issue) } : {}),
    ...(issue && comment
      ? { comment: commentDocument(world, repository, { issue, comment }) }
      : {}),
    ...(label ? { label: labelDocument(world, repository, label) } : {}),
    ...(assignee ? { assignee: accountDocument(world, assignee) } : {}),
    ...(issueType ? { type: issueTypeDocument(issueType) } : {}),
    ...(fieldValue ? changedFieldDocuments(world, fieldValue) : {}),
    ...(formerValue
      ? { changes: { issue_field_value: { from: changedValueDocument(world, formerValue) } } }
      : {}),
    ...(change.changes ? { changes: change.changes() } : {}),
    repository: repositoryDocument(world, repository),
    organization: organizationOf(world, change),
    sender: accountDocument(world, change.sender),
  };
}

function organizationOf(world: World, { repository }: TrackerChange): Record<string, unknown> {
  const { owner } = repository;
  const url = `${world.origin}/orgs/${encodeURIComponent(owner.login)}`;
  const { node_id, avatar_url } = accountDocument(world, owner);
  return {
    login: owner.login,
    id: owner.id,
    node_id,
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url,
    description: '',
  };
}
