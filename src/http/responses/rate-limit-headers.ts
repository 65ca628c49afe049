import type { RateLimit } from '#shared/errors.ts';

/** @see draft-ietf-httpapi-ratelimit-headers-10 */
export function rateLimitHeaders({ limitPerMinute, remaining, resetSeconds }: RateLimit) {
  return {
    'ratelimit-policy': `"default";q=${limitPerMinute};w=60`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  };
}
