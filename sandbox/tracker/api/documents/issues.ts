import { toRfc3339 } from '#shared/clock.ts';
import type { Account, Comment, IssueRecord, Label, Repository, World } from '../../world/model.ts';
import { attributeDocuments } from './attributes.ts';
import { nodeId } from './node-id.ts';
import { fullNameOf } from '../../world/world.ts';

/** Records as the REST API writes them (`issue`, `label`, `issue-comment`, … of its description). */

type Document = Record<string, unknown>;

export function issueNodeId(repository: Repository, issue: IssueRecord): string {
  return nodeId(issue.isPullRequest ? 'PR' : 'I', repository.id, issue.id);
}

const PREFIX_OF_KIND = { User: 'U', Organization: 'O', Bot: 'BOT' } as const;

export function accountDocument(world: World, account: Account): Document {
  const url = `${world.origin}/users/${encodeURIComponent(account.login)}`;
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId(PREFIX_OF_KIND[account.kind], account.id),
    avatar_url: `${world.origin}/avatars/u/${account.id}?v=4`,
    gravatar_id: '',
    url,
    html_url: `${world.origin}/${encodeURIComponent(account.login)}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.kind,
    user_view_type: 'public',
    site_admin: false,
  };
}

export function labelDocument(world: World, repository: Repository, label: Label): Document {
  return {
    id: label.id,
    node_id: nodeId('LA', repository.id, label.id),
    url: `${apiUrlOf(world, repository)}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: false,
    description: label.description,
  };
}

/** `detail` adds what only the single read has. */
export type IssueStyle = { detail?: boolean; apiVersion?: string };

/** The first version that has no single `assignee` any more. */
const WITHOUT_ASSIGNEE = '2026-03-10';

/** An issue as lists and webhooks carry it, unless the style says otherwise. */
export function issueDocument(
  world: World,
  repository: Repository,
  issue: IssueRecord,
  { detail = false, apiVersion }: IssueStyle = {},
): Document {
  const repositoryUrl = apiUrlOf(world, repository);
  const url = `${repositoryUrl}/issues/${issue.number}`;
  const assignees = issue.assignees.map((account) => accountDocument(world, account));
  return {
    url,
    repository_url: repositoryUrl,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: htmlUrlOf(world, repository, issue),
    id: issue.id,
    node_id: issueNodeId(repository, issue),
    number: issue.number,
    title: issue.title,
    user: issue.author && accountDocument(world, issue.author),
    labels: issue.labels.map((label) => labelDocument(world, repository, label)),
    state: issue.state,
    locked: issue.locked,
    ...(apiVersion === WITHOUT_ASSIGNEE ? {} : { assignee: assignees[0] ?? null }),
    assignees,
    milestone: null,
    comments: issue.comments.length,
    created_at: toRfc3339(issue.createdAt),
    updated_at: toRfc3339(issue.updatedAt),
    closed_at: issue.closedAt === null ? null : toRfc3339(issue.closedAt),
    author_association: associationOf(issue.author),
    active_lock_reason: null,
    ...(issue.isPullRequest ? pullRequestOf(world, repository, issue) : issueOnly(world, issue)),
    body: issue.body,
    ...(detail ? { closed_by: issue.closedBy && accountDocument(world, issue.closedBy) } : {}),
    reactions: reactionsOf(url),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: issue.stateReason,
  };
}

function issueOnly(world: World, issue: IssueRecord): Document {
  return {
    ...attributeDocuments(world, issue),
    sub_issues_summary: { total: issue.subIssues, completed: 0, percent_completed: 0 },
    issue_dependencies_summary: {
      blocked_by: 0,
      total_blocked_by: 0,
      blocking: 0,
      total_blocking: 0,
    },
  };
}

function pullRequestOf(world: World, repository: Repository, issue: IssueRecord): Document {
  const html = htmlUrlOf(world, repository, issue);
  return {
    draft: false,
    pull_request: {
      url: `${apiUrlOf(world, repository)}/pulls/${issue.number}`,
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: null,
    },
  };
}

export function commentDocument(
  world: World,
  repository: Repository,
  { issue, comment }: { issue: IssueRecord; comment: Comment },
): Document {
  const url = `${apiUrlOf(world, repository)}/issues/comments/${comment.id}`;
  return {
    url,
    html_url: `${htmlUrlOf(world, repository, issue)}#issuecomment-${comment.id}`,
    issue_url: `${apiUrlOf(world, repository)}/issues/${issue.number}`,
    id: comment.id,
    node_id: nodeId('IC', repository.id, comment.id),
    user: accountDocument(world, comment.author),
    created_at: toRfc3339(comment.createdAt),
    updated_at: toRfc3339(comment.updatedAt),
    body: comment.body,
    author_association: associationOf(comment.author),
    reactions: reactionsOf(url),
    performed_via_github_app: null,
  };
}

export function apiUrlOf(world: World, repository: Repository): string {
  return `${world.origin}/repos/${fullNameOf(repository)}`;
}

/** The issue's page for people, which the tracker serves itself. */
function htmlUrlOf(world: World, repository: Repository, issue: IssueRecord): string {
  const kind = issue.isPullRequest ? 'pull' : 'issues';
  return `${world.origin}/${fullNameOf(repository)}/${kind}/${issue.number}`;
}

function associationOf(author: Account | null): string {
  return author?.kind === 'Bot' ? 'CONTRIBUTOR' : 'NONE';
}

function reactionsOf(url: string): Document {
  return {
    url: `${url}/reactions`,
    total_count: 0,
    '+1': 0,
    '-1': 0,
    laugh: 0,
    hooray: 0,
    confused: 0,
    heart: 0,
    rocket: 0,
    eyes: 0,
  };
}
