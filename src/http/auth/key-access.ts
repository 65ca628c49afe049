import type { FastifyError, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Access } from '#access/index.ts';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import { type LimitState, refuseOverLimit } from '#access/limit.ts';
import { type Clock, DAY } from '#shared/clock.ts';
import { memoize } from '#shared/caching/memoize.ts';
import type { HttpContext } from '../http-app.ts';
import { rateLimitHeaders } from '../responses/rate-limit-headers.ts';

/** How long before its end a key announces it in responses. */
const EXPIRY_NOTICE_MS = 14 * DAY;

export type KeyAccessDeps = { access: Pick<Access, 'authenticate' | 'recall' | 'countCall'> };

/** What a route does with the caller once it is known. */
type Admit = (principal: ConsumerPrincipal, request: FastifyRequest) => void;

/** The two steps of letting the holder of a key in. The rest of its request is looked at after both. */
export type KeyAccess = {
  /**
   * A hook that finds out who sends the request, and gives it to `admit`. From there on the response
   * says when the key expires, if that is within 14 days. A remembered key costs no promise.
   * @throws {unauthorized} @throws {quota-exceeded} too many bad keys @throws {store-unavailable}
   */
  authenticate(admit: Admit): onRequestHookHandler;
  /** The same within another hook. */
  authenticateLater(request: FastifyRequest, admit: Admit): Promise<void>;
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
  const verify = async (request: FastifyRequest): Promise<ConsumerPrincipal> => {
    try {
      return await access.authenticate(keyOf(request));
    } catch (error) {
      return refusals.rethrow(request.ip, error);
    }
  };
  const letIn = (principal: ConsumerPrincipal, request: FastifyRequest, admit: Admit): void => {
    request.logFacts = logFactsOf(principal);
    announceExpiry(request, principal, clock);
    admit(principal, request);
  };
  const letInLater = async (
    { request, admit }: { request: FastifyRequest; admit: Admit },
    done: (error?: FastifyError) => void,
  ): Promise<void> => {
    try {
      letIn(await verify(request), request, admit);
    } catch (error) {
      return done(error as FastifyError);
    }
    done();
  };
  return {
    authenticate: (admit) => (request, _reply, done) => {
      const known = access.recall(keyOf(request));
      if (!known) return void letInLater({ request, admit }, done);
      letIn(known, request, admit);
      done();
    },
    authenticateLater: async (request, admit) => letIn(await verify(request), request, admit),
    spend: (principal, { headersOut }) => {
      const quota = access.countCall(principal);
      const { ratelimit, 'ratelimit-policy': policy } = rateLimitHeaders(quota);
      headersOut?.push('ratelimit-policy', policy, 'ratelimit', ratelimit);
      if (quota.isExceeded) refuseOverLimit(quota);
      return quota;
    },
  };
}

/** A hot key gives the same principal each time, and so the same facts. */
const logFactsOf = memoize(({ consumerId, keyId }: ConsumerPrincipal) =>
  Object.freeze({ consumerId, keyId }),
);

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
