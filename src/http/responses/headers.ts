import type { RateLimit } from '#shared/errors.ts';

/** Nobody may store the response: what operators and the holders of keys read concerns them alone. */
export const uncached = { 'cache-control': 'no-store' } as const;

/**
 * The response is stored for one credential at most, the one in the header `credential`, and is
 * revalidated at every use.
 */
export function revalidatedFor<Header extends string>(credential: Header) {
  return { 'cache-control': 'private, no-cache', vary: credential } as const;
}

/** @see draft-ietf-httpapi-ratelimit-headers-10 */
export function rateLimitHeaders({ limitPerMinute, remaining, resetSeconds }: RateLimit) {
  return {
    'ratelimit-policy': `"default";q=${limitPerMinute};w=60`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  };
}
