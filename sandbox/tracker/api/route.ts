import type { IncomingHttpHeaders } from 'node:http';
import type { TrackerResponse } from './response.ts';
import type { Ability, Caller } from './callers/caller.ts';
import type { Repository, World } from '../world/model.ts';

/** Oldest first; the first is what a request without `X-GitHub-Api-Version` gets. */
export const API_VERSIONS = ['2022-11-28', '2026-03-10'] as const;

export type TrackerRequest = {
  method: string;
  /** Path as it came, escapes and all. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
};

/** Context of a handler of a repository's routes. The caller has the right that the route needs. */
export type RouteContext = {
  world: World;
  repository: Repository;
  caller: Caller;
  request: TrackerRequest;
  /** Decoded values of the pattern's `:name` segments. */
  params: Readonly<Record<string, string>>;
  apiVersion: string;
  /** The JSON object of the body; `{}` without one. */
  body: Readonly<Record<string, unknown>>;
};

export type Route = {
  method: string;
  /** Below the repository, such as `issues/:number`. */
  pattern: string;
  needs: Ability;
  handle(context: RouteContext): TrackerResponse;
};

/** The API version of the request. */
export function apiVersionOf({ headers }: TrackerRequest): string {
  return String(headers['x-github-api-version'] ?? API_VERSIONS[0]);
}

/** The route for a method and path segments, with its parameters. */
export function matchRoute(
  routes: readonly Route[],
  method: string,
  segments: readonly string[],
): { route: Route; params: Record<string, string> } | undefined {
  for (const route of routes) {
    if (route.method !== method) continue;
    const params = matchPattern(route.pattern, segments);
    if (params) return { route, params };
  }
  return undefined;
}

function matchPattern(
  pattern: string,
  segments: readonly string[],
): Record<string, string> | undefined {
  const parts = pattern === '' ? [] : pattern.split('/');
  if (parts.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = decode(segment);
    else if (part !== segment) return undefined;
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
