import { isDeepStrictEqual } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { endsSoon } from '#access/keys/key-rules.ts';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import { overLimit } from '#access/limit.ts';
import type { Clock } from '#shared/clock.ts';
import { type GrantAction, grantedLabels, requireGrant } from '#access/grant.ts';
import type { Visibility } from '#leads/model/lead-query.ts';
import { memoize } from '#shared/caching.ts';
import { isTrackportError } from '#shared/errors.ts';
import { createTurns } from '#shared/resilience/turns.ts';
import type { AreaContext, Exchange, HttpApp, KeyHolder } from '../context.ts';
import { rateLimitHeaders } from '../responses/headers.ts';

/**
 * Lets the holder of a key in: who it is, then its quota, then whether it has a grant for `action`. A call without one
 * uses up quota as well, so that nobody can ask without end. From here on the response says what is left of the quota,
 * and when the key expires, if that is within 30 days.
 * @throws {unauthorized} @throws {quota-exceeded} too many calls, or bad keys
 * @throws {insufficient-scope} @throws {store-unavailable}
 */
export async function admitKey(
  { access, countRefusal, clock }: AreaContext,
  { request, reply }: Exchange,
  action?: GrantAction,
): Promise<void> {
  const principal = await access.authenticate(keyOf(request)).catch((error: unknown) => {
    throw countRefusal(request.ip, error);
  });
  const { consumerId, keyId } = principal;
  request.logFacts = { consumerId, keyId };
  announceExpiry(reply, principal, clock);
  const quota = access.countCall(principal);
  reply.headers(rateLimitHeaders(quota));
  if (quota.isExceeded) throw overLimit(quota);
  if (action) requireGrant(principal.grants, action);
  request.keyHolder = { principal, limitPerMinute: quota.limitPerMinute };
}

/** Whom `admitKey` let in. */
export function keyHolderOf({ keyHolder }: Pick<FastifyRequest, 'keyHolder'>): KeyHolder {
  if (keyHolder === undefined) throw new Error('no key was looked at');
  return keyHolder;
}

/** Several values reach us joined by a comma, which no key contains: they are refused as any bad key. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const value = headers['x-api-key'];
  return typeof value === 'string' ? value : undefined;
}

/** As an HTTP date (RFC 9110 §5.6.7), which `Sunset` and `Expires` are, too. */
function announceExpiry(
  reply: FastifyReply,
  { expiresAt }: ConsumerPrincipal,
  clock: Pick<Clock, 'now'>,
): void {
  if (expiresAt !== undefined && endsSoon({ expiresAt }, clock.now()))
    reply.header('key-expires', new Date(expiresAt).toUTCString());
}

/** A hot key gives the same principal each time, and so the same visibility. */
const visibilityFor = memoize(({ consumerId, grants }: ConsumerPrincipal): Visibility => ({
  consumerId,
  labels: grantedLabels(grants),
}));

/**
 * Every route of the area is for holders of a key that may read leads. Parameters are looked at only after key, quota
 * and grant.
 */
export function admitLeadReaders(app: HttpApp, context: AreaContext): void {
  const turn = createTurns(ADMITTED_A_TURN);
  app.addHook('onRequest', (request, reply) =>
    turn().then(() => admitKey(context, { request, reply }, 'leads:read')),
  );
}

/** One connection can bring hundreds of requests at once: others get their turn of the event loop in between. */
const ADMITTED_A_TURN = 32;

/** Leads that the consumer may see. */
export function visibilityOf(request: FastifyRequest): Visibility {
  return visibilityFor(keyHolderOf(request).principal);
}

/** Those whose key has been revoked since, or may read other leads; each key is asked for once. */
export async function lostGrants(
  { access }: AreaContext,
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
