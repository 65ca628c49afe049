import type { FastifyRequest } from 'fastify';
import { routedPath } from '../requests/paths.ts';

/**
 * Cross-origin reads by browsers: `GET` of leads and the catalog for pages of some origins, and
 * nothing else. The browser's own credentials (cookies, certificates) are never requested.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export type Cors = {
  /** Undefined where no page of another origin could read. */
  headersFor(request: FastifyRequest): Readonly<Record<string, string>> | undefined;
  /**
   * The headers of a 204, when the request is a browser's preflight for such a `GET`; `methods` are those of
   * its path.
   */
  preflight(
    request: FastifyRequest,
    methods: readonly string[],
  ): Readonly<Record<string, string>> | undefined;
};

/** As `server.cors`; stands for every origin. */
const ANY_ORIGIN = '*';

/** Those below these two, whoever registers them. */
const READABLE = /^\/api\/v1\/(?:leads|catalog)(?:\/|$)/;

/** Headers that a page may send beside those that need no permission. */
const REQUEST_HEADERS = 'Authorization, If-None-Match, Last-Event-ID, X-API-KEY';

/** Headers that a page may see beside those that every page sees. */
const RESPONSE_HEADERS = [
  'Age',
  'Cache-Status',
  'Content-Location',
  'Deprecation',
  'ETag',
  'Key-Expires',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ');

/** Time for which a browser caches a preflight. Each response is checked all the same. */
const PREFLIGHT_MAX_AGE_SECONDS = '3600';

/** `origins`: as browsers write them (`https://sales.example.com`), or `*`; none: no CORS at all. */
export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  const allowedOriginOf = ({ headers: { origin } }: FastifyRequest): string | undefined => {
    if (origin === undefined) return undefined;
    if (allowed.has(ANY_ORIGIN)) return ANY_ORIGIN;
    return allowed.has(origin) ? origin : undefined;
  };
  return {
    headersFor: (request) => {
      if (allowed.size === 0 || request.method !== 'GET') return undefined;
      const { url = '' } = request.routeOptions;
      return READABLE.test(url) ? toHeaders(allowedOriginOf(request)) : undefined;
    },
    preflight: (request, methods) => {
      const origin = allowedOriginOf(request);
      const isGetPreflight =
        request.method === 'OPTIONS' && request.headers['access-control-request-method'] === 'GET';
      if (origin === undefined || !isGetPreflight) return undefined;
      if (!READABLE.test(routedPath(request.url)) || !methods.includes('GET')) return undefined;
      return {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': REQUEST_HEADERS,
        'access-control-max-age': PREFLIGHT_MAX_AGE_SECONDS,
        vary: 'Origin',
      };
    },
  };
}

/** Also without an origin: what a cache stores for one origin must not serve another. */
function toHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return { vary: 'Origin' };
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': RESPONSE_HEADERS,
  };
}
