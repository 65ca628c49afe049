import type { FastifyRequest } from 'fastify';
import { grantedWorkspace } from '#access/grants/grant.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import type { HttpApp, HttpContext } from '../http-app.ts';
import { type AuthorizeBearer, createBearerHook, tokenOf } from './bearer.ts';
import { createKeyAccess, type KeyAccessDeps } from './key-access.ts';
import { hangUpOf } from '../requests/hang-up.ts';

export type CatalogAccessDeps = KeyAccessDeps & { authorize: AuthorizeBearer };

/**
 * Every route of the area needs a token with its scope; those that read take a key with the grant
 * `catalog:read` instead. Who sends both is who the token says.
 */
export function requireCatalogAccess(
  app: HttpApp,
  context: HttpContext,
  deps: CatalogAccessDeps,
): void {
  const keys = createKeyAccess(context, deps);
  const byToken = createBearerHook(deps.authorize);
  const byKey = async (request: FastifyRequest): Promise<void> => {
    const principal = await keys.authenticate(request);
    request.grantedWorkspace = grantedWorkspace(principal.grants);
    keys.spend(principal, request);
  };
  app.decorateRequest('token', undefined);
  app.decorateRequest('grantedWorkspace', undefined);
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.described?.scope !== 'catalog:read') return byToken(request);
    const { authorization, 'x-api-key': key } = request.headers;
    const isByKey = authorization === undefined && key !== undefined;
    await (isByKey ? byKey(request) : byToken(request)).catch(challengeForBoth);
  });
}

/** A 401 names every kind of credential that would do. */
function challengeForBoth(error: unknown): never {
  if (!isTrackportError(error, 'unauthorized')) throw error;
  const { detail = '', challenge = '', cause } = error;
  const isBearer = challenge.startsWith('Bearer');
  throw new TrackportError('unauthorized', {
    detail: `${detail} An access token or an API key (\`X-API-KEY\`) will do.`,
    challenge: `${isBearer ? challenge : 'Bearer'}, ApiKey`,
    cause,
  });
}

/** What a route that reads the catalog says of itself. */
export const forCatalogReaders = {
  tag: 'Catalog',
  scope: 'catalog:read',
  security: ['Bearer', 'ApiKey'],
} as const;

/** Whose catalog the caller reads, and whether it still waits. */
export function readerOf(request: FastifyRequest): { workspaceId: string; signal: AbortSignal } {
  const workspaceId = request.grantedWorkspace ?? tokenOf(request).workspaceId;
  return { workspaceId, signal: hangUpOf(request) };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a key with the grant `catalog:read`; set by the hook of `requireCatalogAccess`. */
    grantedWorkspace: string | undefined;
  }
}
