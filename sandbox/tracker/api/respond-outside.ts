import { jsonResponse, notFound, refusal, type TrackerResponse } from './response.ts';
import { type Caller, isAbleTo } from './callers/caller.ts';
import { fieldDocument } from './documents/attributes.ts';
import { accountDocument } from './documents/issues.ts';
import { respondToGraphql } from '../graphql/graphql.ts';
import { objectOf } from './input.ts';
import type { Responder } from './responder.ts';
import { API_VERSIONS, type TrackerRequest } from './route.ts';

/** Responds outside of repositories: limits, the caller, the app, GraphQL. @throws Refusal */
export function respondOutside(
  deps: Responder,
  request: TrackerRequest,
  { caller, segments }: { caller: Caller; segments: readonly string[] },
): TrackerResponse {
  const path = segments.join('/').replace(/^(app\/installations\/)\d+|^(orgs\/)[^/]+/, '$1$2…');
  switch (`${request.method} /${path}`) {
    case 'GET /orgs/…/issue-fields':
      return listFields(deps, caller, segments[1]);
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
    case 'POST /app/installations/…/access_tokens':
      return asApp(caller, () => deps.apps.mintToken(Number(segments[2])));
    default:
      throw notFound();
  }
}

/** A classic token needs a scope of its own for it. Others look like no organization. */
function listFields({ world }: Responder, caller: Caller, org = ''): TrackerResponse {
  const isKnown = world.accounts.get(org.toLowerCase())?.kind === 'Organization';
  const isInScope = caller.scopes?.some((scope) => /^(read|write|admin):org$/.test(scope)) ?? true;
  if (!isKnown || !isInScope || !isAbleTo(caller, 'read')) throw notFound();
  return jsonResponse([...world.fields.values()].map((field) => fieldDocument(world, field)));
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
