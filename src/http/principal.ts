import type { FastifyRequest } from 'fastify';
import type { ConsumerPrincipal, KeyAuthenticator } from '#access/keys/authenticate-key.ts';
import type { RefusalLimiter } from './refusal-limiter.ts';

export type ApiKeyDeps = { keys: KeyAuthenticator; refusals: RefusalLimiter };

/**
 * The consumer behind the request's `X-API-KEY`. Several values reach us joined by a comma, which
 * no key contains, so they are refused as any bad key is.
 * @throws {unauthorized} one and the same for every missing or bad key
 * @throws {quota-exceeded} in its place, when the address tried too many
 * @throws {store-unavailable}
 */
export async function authenticateApiKey(
  deps: ApiKeyDeps,
  request: FastifyRequest,
): Promise<ConsumerPrincipal> {
  const given = request.headers['x-api-key'];
  try {
    return await deps.keys.authenticate(typeof given === 'string' ? given : undefined);
  } catch (error) {
    return deps.refusals.rethrow(request.ip, error);
  }
}
