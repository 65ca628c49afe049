import type { Answer } from './answer.ts';
import { jsonAnswer, movedTo, notFound, Refusal, refusal } from './answer.ts';
import type { AppDesk } from './app-desk.ts';
import type { Caller, TokenGrant } from './caller.ts';
import { identify, isAbleTo } from './caller.ts';
import { commonHeaders, withValidator } from './conditional.ts';
import { accountDocument } from './documents.ts';
import { answerGraphql, graphqlLimitAnswer } from './graphql.ts';
import { objectOf } from './input.ts';
import type { Repository, World } from './model.ts';
import type { Quota } from './quota.ts';
import { quotaHeaders } from './quota.ts';
import type { Route, TrackerRequest } from './route.ts';
import { matchRoute } from './route.ts';
import { catchUpReplicas, fullNameOf, repositoryNamed } from './world.ts';

export const API_VERSIONS = ['2022-11-28', '2026-03-10'] as const;

export type Responder = {
  world: World;
  tokens: ReadonlyMap<string, TokenGrant>;
  apps: AppDesk;
  quota: Quota;
  routes: readonly Route[];
  /** Rendered answers of reads, kept until the world changes. */
  memo: { version: number; answers: Map<string, Answer> };
};

/** `billed`: the request counted against the caller's primary limit. */
export type Response = { answer: Answer; billed: boolean };

/** Answers one request of the API: credential, quota, route, validators, headers. */
export function respond(
  deps: Responder,
  request: TrackerRequest,
  { dropLabels = false } = {},
): Response {
  catchUpReplicas(deps.world);
  const resource = request.path === '/graphql' ? 'graphql' : 'core';
  let caller: Caller | undefined;
  let answer: Answer;
  try {
    checkHeaders(request);
    caller = identify(deps, request.headers.authorization);
    if (dropLabels && isAbleTo(caller, 'edit')) caller = { ...caller, can: 'edit' };
    answer = withValidator(request, answerWithinQuota(deps, request, { caller, resource }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    ({ answer } = error);
  }
  const billed = isBilled(deps, request, { caller, resource, answer });
  if (caller && billed) deps.quota.spend(caller.quotaKey, resource);
  const limits = caller ? quotaHeaders(deps.quota.state(caller.quotaKey, resource), resource) : {};
  const headers = { ...commonHeaders(request), ...limits, ...answer.headers };
  return { answer: { ...answer, headers }, billed };
}

function checkHeaders({ headers }: TrackerRequest): void {
  if (!headers['user-agent'])
    throw refusal(
      403,
      'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
    );
  const version = headers['x-github-api-version'];
  if (version && !API_VERSIONS.some((known) => known === version))
    throw refusal(400, `The API version '${String(version)}' is not supported.`);
}

type Billing = { caller: Caller; resource: string };

/** A 304 of an authorised request is free, and so is asking for one's limits. */
function isBilled(
  deps: Responder,
  request: TrackerRequest,
  { caller, resource, answer }: { caller: Caller | undefined; resource: string; answer: Answer },
): boolean {
  if (!caller || request.path === '/rate_limit' || caller.kind === 'app') return false;
  if (deps.quota.state(caller.quotaKey, resource).remaining === 0) return false;
  return answer.status !== 304 || caller.kind === 'anonymous';
}

function answerWithinQuota(deps: Responder, request: TrackerRequest, billing: Billing): Answer {
  const { caller, resource } = billing;
  const isFree = request.path === '/rate_limit' || caller.kind === 'app';
  if (isFree || deps.quota.state(caller.quotaKey, resource).remaining > 0)
    return answerRequest(deps, request, caller);
  if (resource === 'graphql') return graphqlLimitAnswer();
  throw refusal(403, `API rate limit exceeded for user ID ${caller.account.id}.`);
}

function answerRequest(deps: Responder, request: TrackerRequest, caller: Caller): Answer {
  const segments = request.path.split('/').slice(1);
  const place = repositoryAt(deps.world, segments);
  return place
    ? answerInRepository(deps, request, { caller, ...place })
    : answerGlobal(deps, request, { caller, segments });
}

type Place = { repository: Repository | undefined; rest: string[]; asked: string };

/** Repositories answer under their name and, for ever, under their numeric id. */
function repositoryAt(world: World, segments: readonly string[]): Place | undefined {
  const [root = '', first = '', second = ''] = segments;
  if (root === 'repositories' && /^\d+$/.test(first)) {
    const repository = world.repositories.get(Number(first));
    const asked = repository ? fullNameOf(repository) : '';
    return { repository, rest: segments.slice(2), asked };
  }
  if (root !== 'repos' || segments.length < 3) return undefined;
  const asked = `${first}/${second}`;
  return { repository: repositoryNamed(world, asked), rest: segments.slice(3), asked };
}

function answerInRepository(
  deps: Responder,
  request: TrackerRequest,
  { caller, repository, rest, asked }: Place & { caller: Caller },
): Answer {
  const mayRead = isAbleTo(caller, 'read') || repository?.isPrivate === false;
  if (!repository || !mayRead) throw notFound();
  const { world } = deps;
  if (fullNameOf(repository).toLowerCase() !== asked.toLowerCase()) {
    const path = [`${world.origin}/repositories/${repository.id}`, ...rest].join('/');
    const query = request.query.toString();
    throw movedTo(request.method, query ? `${path}?${query}` : path);
  }
  const match = matchRoute(deps.routes, request.method, rest);
  if (!match) throw notFound();
  if (rest[0] === 'issues' && !repository.hasIssues)
    throw refusal(410, 'Issues are disabled for this repo');
  checkRights(match.route, caller, repository);
  const body = request.method === 'GET' ? {} : objectOf(request.body);
  const context = { world, repository, caller, request, params: match.params, body };
  return request.method === 'GET' && match.route.pattern === 'issues'
    ? remembered(deps, request, () => match.route.handle(context))
    : match.route.handle(context);
}

function checkRights(route: Route, caller: Caller, repository: Repository): void {
  if (route.method !== 'GET' && repository.isArchived)
    throw refusal(403, 'Repository was archived so is read-only.');
  if (route.needs === 'read' || isAbleTo(caller, route.needs)) return;
  if (caller.kind === 'anonymous') throw refusal(401, 'Requires authentication');
  if (route.needs === 'admin') throw refusal(403, 'Must have admin rights to Repository.');
  const integration = caller.kind === 'installation' ? 'integration' : 'personal access token';
  throw refusal(403, `Resource not accessible by ${integration}`, {
    headers: { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' },
  });
}

/** Lists are rendered once per state of the world, whoever asks how often. */
function remembered(deps: Responder, request: TrackerRequest, render: () => Answer): Answer {
  const { memo, world } = deps;
  if (memo.version !== world.version || memo.answers.size > MEMO_SIZE_MAX) {
    memo.version = world.version;
    memo.answers.clear();
  }
  const key = `${request.path}?${request.query.toString()}`;
  const known = memo.answers.get(key);
  if (known) return known;
  const answer = { ...render(), compressed: {} };
  memo.answers.set(key, answer);
  return answer;
}

const MEMO_SIZE_MAX = 200;

function answerGlobal(
  deps: Responder,
  request: TrackerRequest,
  { caller, segments }: { caller: Caller; segments: readonly string[] },
): Answer {
  const [first, second, third, fourth] = segments;
  switch (`${request.method} /${first ?? ''}`) {
    case 'GET /rate_limit':
      return rateLimits(deps, caller);
    case 'GET /user':
      return currentUser(deps, caller);
    case 'GET /versions':
      return jsonAnswer(API_VERSIONS);
    case 'POST /graphql':
      return answerGraphql(deps.world, caller, objectOf(request.body));
    case 'GET /app':
      return asApp(caller, () => deps.apps.describeApp());
    case 'POST /app':
      if (second !== 'installations' || fourth !== 'access_tokens') throw notFound();
      return asApp(caller, () => deps.apps.mintToken(Number(third)));
    default:
      throw notFound();
  }
}

function asApp(caller: Caller, answer: () => Answer): Answer {
  if (caller.kind === 'app') return answer();
  throw refusal(401, 'A JSON web token could not be decoded');
}

function currentUser({ world }: Responder, caller: Caller): Answer {
  if (caller.kind === 'anonymous') throw refusal(401, 'Requires authentication');
  if (caller.kind !== 'user') throw refusal(403, 'Resource not accessible by integration');
  const joined = new Date(0).toISOString();
  return jsonAnswer({
    ...accountDocument(world, caller.account),
    ...EMPTY_PROFILE,
    created_at: joined,
    updated_at: joined,
  });
}

const EMPTY_PROFILE = {
  name: null,
  company: null,
  blog: '',
  location: null,
  email: null,
  hireable: null,
  bio: null,
  twitter_username: null,
  public_repos: 0,
  public_gists: 0,
  followers: 0,
  following: 0,
};

function rateLimits({ quota }: Responder, caller: Caller): Answer {
  const [core, graphql] = ['core', 'graphql'].map((resource) => {
    const { limit, remaining, resetAt } = quota.state(caller.quotaKey, resource);
    return { limit, used: limit - remaining, remaining, reset: Math.ceil(resetAt / 1000) };
  });
  const search = { limit: 30, used: 0, remaining: 30, reset: core?.reset ?? 0 };
  return jsonAnswer({ resources: { core, search, graphql }, rate: core });
}
