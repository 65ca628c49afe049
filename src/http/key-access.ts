import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsumerPrincipal, KeyAuthenticator } from '#access/keys/authenticate-key.ts';
import type { LimitState, Limiter } from '#access/limit.ts';
import { refuseOverLimit } from '#access/limit.ts';
import { type Clock, DAY } from '#shared/clock.ts';
import type { HttpContext } from './http-app.ts';
import { authenticateApiKey } from './principal.ts';
import { rateLimitHeaders } from './responses/rate-limit-headers.ts';
import { headersOn } from './schemas/describe-route.ts';

/** How long before its end a key's holder is told of it. */
const EXPIRY_TOLD_MS = 14 * DAY;

export type KeyAccessDeps = {
  keys: KeyAuthenticator;
  /** One window per consumer. */
  limiter: Limiter;
};

/** The two steps of letting the holder of a key in. What it asks for is looked at after both. */
export type KeyAccess = {
  /**
   * Who calls. From here on the answer says when the key expires, if that is within 14 days.
   * @throws {unauthorized} @throws {quota-exceeded} too many bad keys @throws {store-unavailable}
   */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<ConsumerPrincipal>;
  /**
   * Counts the call. From here on the answer tells what is left of the limit.
   * @throws {quota-exceeded}
   */
  spend(principal: ConsumerPrincipal, reply: FastifyReply): LimitState;
};

export function createKeyAccess(
  { refusals, clock }: Pick<HttpContext, 'refusals' | 'clock'>,
  { keys, limiter }: KeyAccessDeps,
): KeyAccess {
  return {
    authenticate: async (request, reply) => {
      const principal = await authenticateApiKey({ keys, refusals }, request);
      request.logFacts = { consumerId: principal.consumerId, keyId: principal.keyId };
      tellExpiry(reply, principal, clock);
      return principal;
    },
    spend: ({ consumerId, limitPerMinute }, reply) => {
      const quota = limiter.take(consumerId, limitPerMinute);
      reply.headers(rateLimitHeaders(quota));
      if (quota.isExceeded) refuseOverLimit(quota);
      return quota;
    },
  };
}

/** As an HTTP date (RFC 9110 §5.6.7), which `Sunset` and `Expires` are, too. */
function tellExpiry(
  reply: FastifyReply,
  { expiresAt }: ConsumerPrincipal,
  clock: Pick<Clock, 'now'>,
): void {
  if (expiresAt !== undefined && expiresAt - clock.now() <= EXPIRY_TOLD_MS)
    reply.header('key-expires', new Date(expiresAt).toUTCString());
}

/** What every answer to the holder of a key tells. */
export const keyHeaders = ['RateLimit-Policy', 'RateLimit', 'Key-Expires'] as const;

/** The same on the answers that are problems; a 403 comes before the call is counted. */
export const keyHeadersOnProblems = {
  ...headersOn([400, 404, 429, 502, 503], keyHeaders),
  403: ['Key-Expires'],
};
