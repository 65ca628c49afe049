import type { FastifyRequest } from 'fastify';
import type { Access } from '#access/index.ts';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import { type LimitState, refuseOverLimit } from '#access/limit.ts';
import { type Clock, DAY } from '#shared/clock.ts';
import type { HttpContext } from '../http-app.ts';
import { rateLimitHeaders } from '../responses/headers.ts';

/** How long before its end a key announces it in responses. */
const EXPIRY_NOTICE_MS = 14 * DAY;

export type KeyAccessDeps = { access: Pick<Access, 'authenticate' | 'countCall'> };

/** The two steps of letting the holder of a key in. The rest of its request is looked at after both. */
export type KeyAccess = {
  /**
   * Who sends the request. From here on the response says when the key expires, if that is within 14 days.
   * @throws {unauthorized} @throws {quota-exceeded} too many bad keys @throws {store-unavailable}
   */
  authenticate(request: FastifyRequest): Promise<ConsumerPrincipal>;
  /**
   * Counts the request. From here on the response says what is left of the limit.
   * @throws {quota-exceeded}
   */
  spend(principal: ConsumerPrincipal, request: FastifyRequest): LimitState;
};

export function createKeyAccess(
  { refusals, clock }: Pick<HttpContext, 'refusals' | 'clock'>,
  { access }: KeyAccessDeps,
): KeyAccess {
  return {
    authenticate: async (request) => {
      const principal = await access
        .authenticate(keyOf(request))
        .catch((error: unknown) => refusals.rethrow(request.ip, error));
      const { consumerId, keyId } = principal;
      request.logFacts = { consumerId, keyId };
      announceExpiry(request, principal, clock);
      return principal;
    },
    spend: (principal, { headersOut }) => {
      const quota = access.countCall(principal);
      const { ratelimit, 'ratelimit-policy': policy } = rateLimitHeaders(quota);
      headersOut?.push('ratelimit-policy', policy, 'ratelimit', ratelimit);
      if (quota.isExceeded) refuseOverLimit(quota);
      return quota;
    },
  };
}

/** Several values reach us joined by a comma, which no key contains: they are refused as any bad key. */
export function keyOf({ headers }: FastifyRequest): string | undefined {
  const value = headers['x-api-key'];
  return typeof value === 'string' ? value : undefined;
}

/** As an HTTP date (RFC 9110 §5.6.7), which `Sunset` and `Expires` are, too. */
function announceExpiry(
  { headersOut }: FastifyRequest,
  { expiresAt }: ConsumerPrincipal,
  clock: Pick<Clock, 'now'>,
): void {
  if (expiresAt !== undefined && expiresAt - clock.now() <= EXPIRY_NOTICE_MS)
    headersOut?.push('key-expires', new Date(expiresAt).toUTCString());
}
