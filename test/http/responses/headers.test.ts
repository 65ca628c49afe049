import { expect, test } from 'vitest';
import { URI_BYTES_MAX } from '#http/limits.ts';
import { cacheStatus, nextLink } from '#http/responses/headers.ts';

const PUBLIC_URL = 'https://adapter.example.com/base';
const linkOf = (url: string, cursor = 'next-1') => nextLink({ url }, cursor, PUBLIC_URL);

test.each([
  ['/api/v1/leads', '/api/v1/leads?cursor=next-1'],
  ['/api/v1/leads?limit=5', '/api/v1/leads?limit=5&cursor=next-1'],
  ['/api/v1/leads?cursor=old&limit=5', '/api/v1/leads?cursor=next-1&limit=5'],
  ['/api/v1/leads?label=a&label=b', '/api/v1/leads?label=a&label=b&cursor=next-1'],
  ['/api/v1/catalog?q=a?b', '/api/v1/catalog?q=a%3Fb&cursor=next-1'],
])('%s leads on to %s', (url, next) => {
  expect(linkOf(url)).toBe(`<${PUBLIC_URL}${next}>; rel="next"`);
});

test('the address is the public one, whatever host the request named', () => {
  expect(linkOf('http://evil.example/api/v1/leads')).toBe(
    `<${PUBLIC_URL}/api/v1/leads?cursor=next-1>; rel="next"`,
  );
});

test('filters are left to the cursor where they would make the address too long', () => {
  const filter = 'x'.repeat(URI_BYTES_MAX);
  expect(linkOf(`/api/v1/leads?limit=5&label=${filter}&cursor=old`)).toBe(
    `<${PUBLIC_URL}/api/v1/leads?limit=5&cursor=next-1>; rel="next"`,
  );
});

test.each([
  [{ outcome: 'hit', ttlMs: 11_999 }, 'trackport; hit; ttl=11'],
  [{ outcome: 'hit', ttlMs: -1 }, 'trackport; hit; ttl=0'],
  [{ outcome: 'miss', ttlMs: 15_000 }, 'trackport; fwd=miss; stored; ttl=15'],
  [{ outcome: 'stale', ttlMs: -1500 }, 'trackport; fwd=stale; fwd-status=503; ttl=-2'],
  [{ outcome: 'stale', ttlMs: 1500 }, 'trackport; fwd=stale; fwd-status=503; ttl=0'],
] as const)('%j is reported as %s', (facts, status) => {
  expect(cacheStatus({ ...facts, ageMs: 0 })).toBe(status);
});
