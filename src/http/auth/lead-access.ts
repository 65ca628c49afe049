import { isDeepStrictEqual } from 'node:util';
import type { FastifyRequest } from 'fastify';
import { grantedLabels } from '#access/grant.ts';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import type { Visibility } from '#leads/reading/prepared-query.ts';
import { memoize } from '#shared/caching.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { AreaContext, HttpApp } from '../http-app.ts';
import { admitKey, keyHolderOf, keyOf } from './key-access.ts';

/** A hot key gives the same principal each time, and so the same visibility. */
const visibilityFor = memoize(({ consumerId, grants }: ConsumerPrincipal): Visibility => ({
  consumerId,
  labels: grantedLabels(grants),
}));

/**
 * Every route of the area needs a key that may read leads. Key, grant, then quota: parameters are
 * looked at only after all three.
 */
export function requireLeadGrant(app: HttpApp, context: AreaContext): void {
  app.addHook('onRequest', (request) => admitKey(context, request, visibilityFor));
}

/** What the consumer may see. */
export function visibilityOf(request: FastifyRequest): Visibility {
  return visibilityFor(keyHolderOf(request).principal);
}

/** Those whose key has been revoked since, or may read other leads; each key is asked for once. */
export async function lostGrants(
  { access }: Pick<AreaContext, 'access'>,
  requests: Iterable<FastifyRequest>,
): Promise<FastifyRequest[]> {
  const lost = [...Map.groupBy(requests, keyOf)].map(async ([key, own]) => {
    try {
      const now = visibilityFor(await access.authenticate(key));
      return own.filter((one) => !isDeepStrictEqual(now, visibilityOf(one)));
    } catch (error) {
      // While the store fails nothing new can be read either.
      return isTrackportError(error, 'store-unavailable') ? [] : own;
    }
  });
  return (await Promise.all(lost)).flat();
}
