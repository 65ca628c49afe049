import { afterEach, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import type { RemovalList, RemovalListQuery } from '#leads/claims/claimed-leads.ts';
import { buildTestApp, PUBLIC_URL } from '../../support/http/app.ts';
import { fakeLeads, KEY_WITHOUT_GRANT, withKey } from '../../support/http/leads.ts';

let app: HttpApp;
afterEach(() => app.close());

const url = '/api/v1/leads/removals';
const someRemovals: RemovalList = {
  items: [{ id: '7', removedAt: '2026-03-01T10:00:00.123Z' }],
  pagination: { hasMore: true, nextCursor: 'next-1' },
};

function serve() {
  const received: { query: RemovalListQuery; visibility: unknown }[] = [];
  app = buildTestApp({
    ...fakeLeads(),
    claimedLeads: {
      listRemovals: async (query, visibility) => {
        received.push({ query, visibility });
        return someRemovals;
      },
    },
  });
  return received;
}

test('removals are listed, and no lead has that id', async () => {
  const received = serve();
  const response = await app.inject({ url: `${url}?limit=10&since=2026-03-01`, headers: withKey });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual(someRemovals);
  expect(response.headers.link).toBe(
    `<${PUBLIC_URL}${url}?limit=10&since=2026-03-01&cursor=next-1>; rel="next"`,
  );
  expect(received).toEqual([
    {
      query: { limit: 10, since: Date.parse('2026-03-01') },
      visibility: { consumerId: 'consumer-1', labels: [] },
    },
  ]);
});

test.each([
  ['without a key', {}, 401],
  ['without a grant', { 'x-api-key': KEY_WITHOUT_GRANT }, 403],
])('are refused %s, whatever the parameters', async (_name, headers, status) => {
  const received = serve();
  expect((await app.inject({ url: `${url}?limit=0`, headers })).statusCode).toBe(status);
  expect(received).toEqual([]);
});

test.each(['limit=0', 'since=soon', 'label=x'])('are refused with %s', async (query) => {
  serve();
  const response = await app.inject({ url: `${url}?${query}`, headers: withKey });
  expect(response.statusCode).toBe(400);
  expect(response.json().errors).toHaveLength(1);
});

test('that a caller has already are 304, with the address of the next page', async () => {
  serve();
  const first = await app.inject({ url, headers: withKey });
  const etag = String(first.headers.etag);
  expect(etag).toMatch(/^"[\w-]+"$/);
  const again = await app.inject({ url, headers: { ...withKey, 'if-none-match': etag } });
  expect([again.statusCode, again.body]).toEqual([304, '']);
  for (const name of ['etag', 'cache-control', 'vary', 'link'])
    expect(again.headers[name]).toBe(first.headers[name]);
  const other = await app.inject({ url, headers: { ...withKey, 'if-none-match': '"other"' } });
  expect(other.statusCode).toBe(200);
});
