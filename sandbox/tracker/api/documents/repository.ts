import { toRfc3339 } from '#shared/clock.ts';
import { accountDocument, apiUrlOf } from './issues.ts';
import { nodeId } from './node-id.ts';
import type { Repository, World } from '../../world/model.ts';
import { fullNameOf } from '../../world/world.ts';

/** Addresses in a repository, below that of the API; `{…}` are URI templates. */
const SUB_RESOURCES = {
  forks_url: '/forks',
  keys_url: '/keys{/key_id}',
  collaborators_url: '/collaborators{/collaborator}',
  teams_url: '/teams',
  hooks_url: '/hooks',
  issue_events_url: '/issues/events{/number}',
  events_url: '/events',
  assignees_url: '/assignees{/user}',
  branches_url: '/branches{/branch}',
  tags_url: '/tags',
  blobs_url: '/git/blobs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  git_refs_url: '/git/refs{/sha}',
  trees_url: '/git/trees{/sha}',
  statuses_url: '/statuses/{sha}',
  languages_url: '/languages',
  stargazers_url: '/stargazers',
  contributors_url: '/contributors',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  commits_url: '/commits{/sha}',
  git_commits_url: '/git/commits{/sha}',
  comments_url: '/comments{/number}',
  issue_comment_url: '/issues/comments{/number}',
  contents_url: '/contents/{+path}',
  compare_url: '/compare/{base}...{head}',
  merges_url: '/merges',
  archive_url: '/{archive_format}{/ref}',
  downloads_url: '/downloads',
  issues_url: '/issues{/number}',
  pulls_url: '/pulls{/number}',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  labels_url: '/labels{/name}',
  releases_url: '/releases{/id}',
  deployments_url: '/deployments',
} as const;

/** A repository as webhooks carry it. */
export function repositoryDocument(world: World, repository: Repository): Record<string, unknown> {
  const fullName = fullNameOf(repository);
  const url = apiUrlOf(world, repository);
  const open = openIssueCount(repository);
  return {
    id: repository.id,
    node_id: nodeId('R', repository.id),
    name: repository.name,
    full_name: fullName,
    private: repository.isPrivate,
    owner: accountDocument(world, repository.owner),
    html_url: `${world.origin}/${fullName}`,
    description: 'Contact leads (a sandbox)',
    fork: false,
    url,
    ...Object.fromEntries(
      Object.entries(SUB_RESOURCES).map(([name, path]) => [name, `${url}${path}`]),
    ),
    ...datesAndCounts(repository, open),
    git_url: `git://127.0.0.1/${fullName}.git`,
    ssh_url: `git@127.0.0.1:${fullName}.git`,
    clone_url: `${world.origin}/${fullName}.git`,
    svn_url: `${world.origin}/${fullName}`,
    ...SETTINGS,
    has_issues: repository.hasIssues,
    issue_creation_policy: repository.issueCreationPolicy,
    archived: repository.isArchived,
    visibility: repository.isPrivate ? 'private' : 'public',
    default_branch: 'main',
  };
}

/** A repository as in the response of its own route, with what the caller may do there. */
export function fullRepositoryDocument(
  world: World,
  repository: Repository,
  rights: { admin: boolean; push: boolean },
): Record<string, unknown> {
  return {
    ...repositoryDocument(world, repository),
    permissions: {
      admin: rights.admin,
      maintain: rights.admin,
      push: rights.push,
      triage: rights.push,
      pull: true,
    },
    temp_clone_token: '',
    allow_squash_merge: true,
    allow_merge_commit: true,
    allow_rebase_merge: true,
    allow_auto_merge: false,
    delete_branch_on_merge: false,
    allow_update_branch: false,
    network_count: 0,
    subscribers_count: 0,
    organization: accountDocument(world, repository.owner),
  };
}

const SETTINGS = {
  homepage: null,
  size: 0,
  stargazers_count: 0,
  watchers_count: 0,
  language: null,
  has_projects: false,
  has_downloads: false,
  has_wiki: false,
  has_pages: false,
  has_discussions: false,
  forks_count: 0,
  mirror_url: null,
  disabled: false,
  license: null,
  allow_forking: false,
  is_template: false,
  web_commit_signoff_required: false,
  topics: [],
  custom_properties: {},
  forks: 0,
  watchers: 0,
};

function datesAndCounts(repository: Repository, open: number): Record<string, unknown> {
  return {
    created_at: toRfc3339(repository.createdAt),
    updated_at: toRfc3339(repository.updatedAt),
    pushed_at: toRfc3339(repository.createdAt),
    open_issues_count: open,
    open_issues: open,
  };
}

/** Pull requests count as issues here too. */
function openIssueCount(repository: Repository): number {
  let open = 0;
  for (const issue of repository.issues.byNumber.values()) if (issue.state === 'open') open += 1;
  return open;
}
