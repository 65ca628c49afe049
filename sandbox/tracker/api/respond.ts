import { Refusal, refusal, type TrackerResponse } from './response.ts';
import { respondInRepository, placeAt } from './respond-in-repository.ts';
import { respondOutside } from './respond-outside.ts';
import { type Caller, isAbleTo } from './callers/caller.ts';
import { commonHeaders, withValidator } from './conditional.ts';
import { graphqlLimitResponse } from '../graphql/graphql.ts';
import { identify } from './callers/identify.ts';
import { quotaHeaders } from './callers/quota.ts';
import type { Responder } from './responder.ts';
import { API_VERSIONS, apiVersionOf, type TrackerRequest } from './route.ts';
import type { World } from '../world/model.ts';
import { catchUpReplicas } from '../world/world.ts';

/** `billed`: the request counted against the caller's primary limit. */
export type Responded = { response: TrackerResponse; billed: boolean };

/** Responds to one request of the API: credential, quota, route, validators, headers. */
export function respond(
  deps: Responder,
  request: TrackerRequest,
  { dropLabels = false } = {},
): Responded {
  catchUpReplicas(deps.world);
  const resource = request.path === '/graphql' ? 'graphql' : 'core';
  let caller: Caller | undefined;
  let response: TrackerResponse;
  try {
    checkHeaders(deps.world, request);
    caller = identify(deps, request.headers.authorization);
    if (dropLabels && isAbleTo(caller, 'edit')) caller = { ...caller, can: 'edit' };
    response = withValidator(request, respondWithinQuota(deps, request, { caller, resource }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    ({ response } = error);
  }
  const billed = isBilled(deps, request, { caller, resource, response });
  if (caller && billed) deps.quota.spend(caller.quotaKey, resource);
  const limits = caller ? quotaHeaders(deps.quota.state(caller.quotaKey, resource), resource) : {};
  const headers = {
    ...commonHeaders(request),
    ...versionHeaders(deps.world, request),
    ...limits,
    ...scopeHeaders(caller),
    ...response.headers,
  };
  return { response: { ...response, headers }, billed };
}

function scopeHeaders({ scopes }: Partial<Caller> = {}): Record<string, string> {
  return scopes ? { 'x-oauth-scopes': scopes.join(', ') } : {};
}

function checkHeaders(world: World, request: TrackerRequest): void {
  const { headers } = request;
  if (!headers['user-agent'])
    throw refusal(
      403,
      'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
    );
  const version = headers['x-github-api-version'];
  if (version && !API_VERSIONS.some((known) => known === version))
    throw refusal(400, `The API version '${String(version)}' is not supported.`);
  const end = world.versionEnds.get(apiVersionOf(request));
  if (end && end.sunsetAt <= world.clock.now())
    throw refusal(410, 'This API version is no longer supported.');
}

/** @see RFC 8594 */
function versionHeaders(world: World, request: TrackerRequest): Record<string, string> {
  const end = world.versionEnds.get(apiVersionOf(request));
  if (!end) return {};
  const [deprecation, sunset] = [end.deprecatedAt, end.sunsetAt].map((at) =>
    new Date(at).toUTCString(),
  );
  return { deprecation: deprecation ?? '', sunset: sunset ?? '' };
}

/** A 304 of an authorised request is free, and so is asking for one's limits. */
function isBilled(
  deps: Responder,
  request: TrackerRequest,
  {
    caller,
    resource,
    response,
  }: { caller: Caller | undefined; resource: string; response: TrackerResponse },
): boolean {
  if (!caller || isUnlimited(request, caller)) return false;
  if (deps.quota.state(caller.quotaKey, resource).remaining === 0) return false;
  return response.status !== 304 || caller.kind === 'anonymous';
}

function isUnlimited(request: TrackerRequest, caller: Caller): boolean {
  return request.path === '/rate_limit' || caller.kind === 'app';
}

function respondWithinQuota(
  deps: Responder,
  request: TrackerRequest,
  { caller, resource }: { caller: Caller; resource: string },
): TrackerResponse {
  const { remaining } = deps.quota.state(caller.quotaKey, resource);
  if (isUnlimited(request, caller) || remaining > 0) return respondByPath(deps, request, caller);
  if (resource === 'graphql') return graphqlLimitResponse();
  throw refusal(403, `API rate limit exceeded for user ID ${caller.account.id}.`);
}

function respondByPath(deps: Responder, request: TrackerRequest, caller: Caller): TrackerResponse {
  const segments = request.path.split('/').slice(1);
  const place = placeAt(deps.world, segments);
  return place
    ? respondInRepository(deps, request, { caller, place })
    : respondOutside(deps, request, { caller, segments });
}
