import { isDeepStrictEqual } from 'node:util';
import type { FastifyRequest } from 'fastify';
import { grantedLabels } from '#access/grants/grant.ts';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import type { Visibility } from '#leads/reading/prepared-query.ts';
import { memoize } from '#shared/caching/memoize.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { HttpApp, HttpContext } from '../http-app.ts';
import { createKeyAccess, type KeyAccessDeps, keyOf } from './key-access.ts';

/** A hot key gives the same principal each time, and so the same visibility. */
const visibilityFor = memoize(({ consumerId, grants }: ConsumerPrincipal): Visibility => ({
  consumerId,
  labels: grantedLabels(grants),
}));

/**
 * Every route of the area needs a key that may read leads. Key, grant, then quota: parameters are
 * looked at only after all three.
 */
export function requireLeadGrant(app: HttpApp, context: HttpContext, deps: KeyAccessDeps): void {
  const access = createKeyAccess(context, deps);
  app.decorateRequest('visibility', undefined);
  app.addHook('onRequest', async (request) => {
    const principal = await access.authenticate(request);
    request.visibility = visibilityFor(principal);
    access.spend(principal, request);
  });
}

/** What the consumer may see, as the hook of `requireLeadGrant` found it. */
export function visibilityOf(request: FastifyRequest): Visibility {
  if (request.visibility === undefined) throw new Error('the lead grant hook did not run');
  return request.visibility;
}

/** False when the key of the request has been revoked since, or may read other leads. */
export async function isStillGranted(
  { access }: KeyAccessDeps,
  request: FastifyRequest,
): Promise<boolean> {
  try {
    const now = visibilityFor(await access.authenticate(keyOf(request)));
    return isDeepStrictEqual(now, visibilityOf(request));
  } catch (error) {
    return isTrackportError(error, 'store-unavailable'); // then nothing new can be read either
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the hook of `requireLeadGrant`. */
    visibility: Visibility | undefined;
  }
}
