import type { RouteOptions } from 'fastify';

/** The operations of a route, as the maps of this folder name them: `get /api/v1/leads/{leadId}`. */
export function operationKeysOf({ method, url }: Pick<RouteOptions, 'method' | 'url'>): string[] {
  const path = url.replaceAll(/:([^/]+)/g, '{$1}');
  return [method].flat().map((name) => `${name.toLowerCase()} ${path}`);
}
