import { movedTo, notFound, refusal, type TrackerResponse } from './response.ts';
import { type Caller, isAbleTo, isInScope } from './callers/caller.ts';
import { objectOf } from './input.ts';
import type { Repository, World } from '../world/model.ts';
import type { Responder } from './responder.ts';
import { apiVersionOf, matchRoute, type Route, type TrackerRequest } from './route.ts';
import { fullNameOf, repositoryNamed } from '../world/world.ts';

/** A repository as a path names it, and the segments below it. */
export type Place = {
  repository: Repository | undefined;
  rest: string[];
  /** The path says a name that the repository had before. */
  isOldName: boolean;
};

/** Repositories are found under their name and, for ever, under their numeric id. */
export function placeAt(world: World, segments: readonly string[]): Place | undefined {
  const [root = '', first = '', second = ''] = segments;
  if (root === 'repositories' && /^\d+$/.test(first)) {
    const repository = world.repositories.get(Number(first));
    return { repository, rest: segments.slice(2), isOldName: false };
  }
  if (root !== 'repos' || segments.length < 3) return undefined;
  const fullName = `${first}/${second}`.toLowerCase();
  const repository = repositoryNamed(world, fullName);
  const isOldName = repository !== undefined && fullNameOf(repository).toLowerCase() !== fullName;
  return { repository, rest: segments.slice(3), isOldName };
}

/** @throws Refusal for everything but a success */
export function respondInRepository(
  deps: Responder,
  request: TrackerRequest,
  { caller, place }: { caller: Caller; place: Place },
): TrackerResponse {
  const { repository, rest } = place;
  if (!repository || !mayRead(caller, repository)) throw notFound();
  if (place.isOldName) throw movedTo(request.method, currentUrl(deps.world, request, place));
  const match = matchRoute(deps.routes, request.method, rest);
  if (!match) throw notFound();
  if (rest[0] === 'issues' && !repository.hasIssues)
    throw refusal(410, 'Issues are disabled for this repo');
  checkRights(match.route, caller, repository);
  const body = request.method === 'GET' ? {} : objectOf(request.body);
  const { params, route } = match;
  const apiVersion = apiVersionOf(request);
  const render = (): TrackerResponse =>
    route.handle({ world: deps.world, repository, caller, request, params, body, apiVersion });
  return request.method === 'GET' && route.pattern === 'issues'
    ? remembered(deps, request, render)
    : render();
}

/** A private repository that one may not read looks like none. */
function mayRead(caller: Caller, repository: Repository): boolean {
  return !repository.isPrivate || (isAbleTo(caller, 'read') && isInScope(caller, repository));
}

function currentUrl(world: World, request: TrackerRequest, { repository, rest }: Place): string {
  const path = [`${world.origin}/repositories/${repository?.id ?? 0}`, ...rest].join('/');
  const query = request.query.toString();
  return query ? `${path}?${query}` : path;
}

function checkRights(route: Route, caller: Caller, repository: Repository): void {
  if (route.method !== 'GET' && repository.isArchived)
    throw refusal(403, 'Repository was archived so is read-only.');
  if (route.needs === 'read') return;
  // A repository that a classic token may only read by its scopes answers a write as if it were not there.
  if (!isInScope(caller, repository)) throw notFound();
  if (isAbleTo(caller, route.needs)) return;
  if (caller.kind === 'anonymous') throw refusal(401, 'Requires authentication');
  if (route.needs === 'admin') throw refusal(403, 'Must have admin rights to Repository.');
  const credential = caller.kind === 'installation' ? 'integration' : 'personal access token';
  throw refusal(403, `Resource not accessible by ${credential}`, {
    headers: { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' },
  });
}

const REMEMBERED_MAX = 200;

/** Lists are rendered once per state of the world, however many requests there are for them. */
function remembered(
  deps: Responder,
  request: TrackerRequest,
  render: () => TrackerResponse,
): TrackerResponse {
  const { memo, world } = deps;
  if (memo.version !== world.version || memo.responses.size > REMEMBERED_MAX) {
    memo.version = world.version;
    memo.responses.clear();
  }
  const key = `${apiVersionOf(request)} ${request.path}?${request.query.toString()}`;
  const response = memo.responses.get(key) ?? { ...render(), made: { digests: new Map() } };
  memo.responses.set(key, response);
  return response;
}
