import { jsonResponse, notFound, refusal, type TrackerResponse } from './response.ts';
import type { Caller } from './callers/caller.ts';
import { accountDocument } from './documents/issues.ts';
import { respondToGraphql } from '../graphql/graphql.ts';
import { objectOf } from './input.ts';
import type { Responder } from './responder.ts';
import { API_VERSIONS, type TrackerRequest } from './route.ts';

/** What is not below a repository: limits, the caller, the app, GraphQL. @throws Refusal */
export function respondOutside(
  deps: Responder,
  request: TrackerRequest,
  { caller, segments }: { caller: Caller; segments: readonly string[] },
): TrackerResponse {
  const isMint = /^app\/installations\/\d+\/access_tokens$/.test(segments.join('/'));
  switch (`${request.method} /${isMint ? 'app/…/access_tokens' : segments.join('/')}`) {
    case 'GET /rate_limit':
      return rateLimits(deps, caller);
    case 'GET /user':
      return currentUser(deps, caller);
    case 'GET /versions':
      return jsonResponse(API_VERSIONS);
    case 'POST /graphql':
      return respondToGraphql(deps.world, caller, objectOf(request.body));
    case 'GET /app':
      return asApp(caller, () => deps.apps.describeApp());
    case 'GET /app/hook/config':
      return asApp(caller, () => deps.appHook.config());
    case 'GET /app/hook/deliveries':
      return asApp(caller, () => deps.appHook.deliveries(request));
    case 'POST /app/…/access_tokens':
      return asApp(caller, () => deps.apps.mintToken(Number(segments[2])));
    default:
      throw notFound();
  }
}

function asApp(caller: Caller, response: () => TrackerResponse): TrackerResponse {
  if (caller.kind === 'app') return response();
  throw refusal(401, 'A JSON web token could not be decoded');
}

function currentUser({ world }: Responder, caller: Caller): TrackerResponse {
  if (caller.kind === 'anonymous') throw refusal(401, 'Requires authentication');
  if (caller.kind !== 'user') throw refusal(403, 'Resource not accessible by integration');
  const joined = new Date(0).toISOString();
  return jsonResponse({
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

function rateLimits({ quota }: Responder, caller: Caller): TrackerResponse {
  const [core, graphql] = ['core', 'graphql'].map((resource) => {
    const { limit, remaining, resetAt } = quota.state(caller.quotaKey, resource);
    return { limit, used: limit - remaining, remaining, reset: Math.ceil(resetAt / 1000) };
  });
  const search = { limit: 30, used: 0, remaining: 30, reset: core?.reset ?? 0 };
  return jsonResponse({ resources: { core, search, graphql }, rate: core });
}
