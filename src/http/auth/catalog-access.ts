import type { FastifyRequest } from 'fastify';
import { grantedWorkspace } from '#access/grant.ts';
import { clientReader, type ReaderRef } from '#catalog/usage.ts';
import type { Caller } from '#catalog/index.ts';
import type { JobOwner } from '#catalog/spec/spec-jobs.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { type BearerContext, type Exchange, type HttpApp, hangUpOf } from '../context.ts';
import { actorOf, authorizeBearer, tokenOf } from './bearer.ts';
import { admitKey } from './key-access.ts';

/**
 * Every route of the area needs a token with its scope; those that read take a key with the grant
 * `catalog:read` instead. Who sends both is who the token says.
 */
export function requireCatalogAccess(app: HttpApp, context: BearerContext): void {
  const byKey = async (exchange: Exchange): Promise<void> => {
    await admitKey(context, exchange, 'catalog:read');
    await context.backlog.reserve(exchange.request, MADE_BYTES);
  };
  app.addHook('onRequest', async (request, reply) => {
    const byToken = (): Promise<void> => authorizeBearer(context, request);
    if (request.routeOptions.config.scope !== 'catalog:read') return byToken();
    const { authorization, 'x-api-key': key } = request.headers;
    const isByKey = authorization === undefined && key !== undefined;
    await (isByKey ? byKey({ request, reply }) : byToken()).catch(challengeForBoth);
  });
  app.addHook('onSend', async (request, { statusCode }, payload) => {
    // An error goes out by the room that was reserved: it may be that there is no other.
    if (statusCode < 400) await context.backlog.settle(request, lengthOf(payload));
  });
}

/**
 * Room for an answer until it is made, for its length shows only then: that of the largest spec. So three are made at a
 * time for one consumer.
 */
const MADE_BYTES = 5 * 1024 * 1024;

const lengthOf = (payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;

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

/** Description that all routes which read the catalog share. */
export const forCatalogReaders = {
  tag: 'Catalog',
  scope: 'catalog:read',
  security: ['Bearer', 'ApiKey'],
} as const;

/** Whose catalog the caller reads, and whether it still waits. */
export function readerOf(request: FastifyRequest): JobOwner & { signal: AbortSignal } {
  const { keyHolder } = request;
  const signal = hangUpOf(request);
  if (!keyHolder) {
    const { workspaceId, subject } = tokenOf(request);
    return { workspaceId, subject, signal };
  }
  const { grants, consumerId } = keyHolder.principal;
  return { workspaceId: grantedWorkspace(grants), subject: consumerId, signal };
}

/** The reader as the record of reads names it: no person. */
export function readByOf(request: FastifyRequest): ReaderRef {
  const { keyHolder } = request;
  return keyHolder
    ? { kind: 'consumer', id: keyHolder.principal.consumerId }
    : clientReader(tokenOf(request).clientId);
}

/** On whose behalf the use cases work: the workspace is the token's. */
export function callerOf(request: FastifyRequest): Caller {
  const token = tokenOf(request);
  const [requestId, signal] = [request.id, hangUpOf(request)];
  return { workspaceId: token.workspaceId, actor: actorOf(token), requestId, signal };
}
