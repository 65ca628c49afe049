import { afterEach, describe, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { TrackportError } from '#shared/errors.ts';
import { buildTestApp, PUBLIC_URL } from '../../support/http/app.ts';
import {
  fakeLeads,
  type FakeLeads,
  freshHit,
  KEY_WITHOUT_GRANT,
  someLead,
  someList,
  withKey,
} from '../../support/http/leads.ts';

let app: HttpApp;
afterEach(() => app.close());

function serve(leads: FakeLeads): HttpApp {
  app = buildTestApp(leads);
  return app;
}

async function errorsOf(url: string): Promise<{ parameter: string; code: string }[]> {
  const response = await serve(fakeLeads()).inject({ url, headers: withKey });
  expect(response.statusCode).toBe(400);
  expect(response.json().code).toBe('validation-failed');
  return response.json().errors;
}

describe('the list', () => {
  test('holds the leads and says where the next page is', async () => {
    const leads = fakeLeads();
    const response = await serve(leads).inject({ url: '/api/v1/leads', headers: withKey });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual(someList);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers.link).toBe(`<${PUBLIC_URL}/api/v1/leads?cursor=next-1>; rel="next"`);
    expect(leads.received).toEqual([
      {
        query: { limit: 50, labels: [] },
        visibility: { consumerId: 'consumer-1', labels: [] },
      },
    ]);
  });

  test('hands every parameter on, and links to the next page with the same filters', async () => {
    const leads = fakeLeads();
    const url =
      '/api/v1/leads?limit=100&state=all&label=Hot,Cold&label=x%20y&since=2026-03-01T10:00:00%2B02:00&cursor=abc';
    const response = await serve(leads).inject({ url, headers: withKey });
    expect(leads.received[0]?.query).toEqual({
      limit: 100,
      state: 'all',
      labels: ['Hot', 'Cold', 'x y'],
      since: Date.parse('2026-03-01T08:00:00Z'),
      cursor: 'abc',
    });
    const link = String(response.headers.link);
    const next = new URL(link.slice(1, link.indexOf('>')));
    expect(Object.fromEntries(next.searchParams)).toEqual({
      limit: '100',
      state: 'all',
      label: 'x y',
      since: '2026-03-01T10:00:00+02:00',
      cursor: 'next-1',
    });
    expect(next.searchParams.getAll('label')).toEqual(['Hot,Cold', 'x y']);
  });

  test('leaves the filters of the link to the cursor where the address would be too long', async () => {
    const leads = fakeLeads();
    const labels = Array.from({ length: 10 }, (_, at) => `label=${'%C3%A9'.repeat(130)}${at}`);
    const url = `/api/v1/leads?limit=7&${labels.join('&')}`;
    const nextCursor = 'c'.repeat(2000);
    leads.leads.reader.list = async () => ({
      value: { items: [], pagination: { hasMore: true, nextCursor } },
      cache: freshHit,
    });
    const response = await serve(leads).inject({ url, headers: withKey });
    expect(response.headers.link).toBe(
      `<${PUBLIC_URL}/api/v1/leads?limit=7&cursor=${nextCursor}>; rel="next"`,
    );
  });

  test('never lets out a field that the schema does not name, and has no Link on the last page', async () => {
    const secretive = { ...someLead, body: 'private', contact: { email: 'a@b.c', ip: '10.0.0.1' } };
    const list = { items: [secretive], pagination: { hasMore: false } };
    const response = await serve(fakeLeads({ list })).inject({
      url: '/api/v1/leads',
      headers: withKey,
    });
    expect(response.json().items).toEqual([{ ...someLead, contact: { email: 'a@b.c' } }]);
    expect(response.headers.link).toBeUndefined();
  });
});

describe('wrong parameters', () => {
  test('each get an entry of their own in one response', async () => {
    const errors = await errorsOf('/api/v1/leads?limit=0&state=open&state=all&since=soon&lable=x');
    expect(errors).toEqual([
      { parameter: 'limit', code: 'out-of-range', detail: expect.stringContaining('1 to 100') },
      { parameter: 'since', code: 'invalid', detail: expect.stringContaining('RFC 3339') },
      { parameter: 'state', code: 'repeated', detail: expect.stringContaining('only once') },
      { parameter: 'lable', code: 'unknown', detail: expect.stringContaining('`label`?') },
    ]);
  });

  test.each([
    'limit=0',
    'limit=1e1',
    'limit=5&limit=6',
    'state=OPEN',
    'since=2026-02-30',
    'since=1772359200',
    'label=a,,b',
    `label=${'a'.repeat(201)}`,
    'label=a,b,c,d,e,f,g,h,i,j,k',
    '__proto__=1',
    'limit[]=5',
  ])('refuses %s and names it', async (query) => {
    const errors = await errorsOf(`/api/v1/leads?${query}`);
    expect(errors).toHaveLength(1);
    expect(query).toContain(errors[0]?.parameter ?? 'nothing');
  });

  test('takes ten labels in one parameter, each of up to 200 characters', async () => {
    const leads = fakeLeads();
    const labels = Array.from({ length: 10 }, (_, at) => `${at}${'a'.repeat(199)}`);
    const url = `/api/v1/leads?label=${labels.join(',')}`;
    const response = await serve(leads).inject({ url, headers: withKey });
    expect(response.statusCode).toBe(200);
    expect(leads.received[0]?.query.labels).toEqual(labels);
    const errors = await errorsOf(`/api/v1/leads?label=a,${'b'.repeat(201)}`);
    expect(errors).toMatchObject([{ parameter: 'label', code: 'out-of-range' }]);
  });
});

describe('access', () => {
  test.each([
    ['no key', {}],
    ['an unknown key', { 'x-api-key': 'tpk_other' }],
    ['two keys', { 'x-api-key': 'tpk_good, tpk_good' }],
    ['a bearer token', { authorization: 'Bearer tpk_good' }],
  ])('%s is refused before parameters are looked at', async (_name, headers) => {
    const response = await serve(fakeLeads()).inject({ url: '/api/v1/leads?limit=0', headers });
    expect(response.statusCode).toBe(401);
    expect(response.json().code).toBe('unauthorized');
    expect(response.headers['www-authenticate']).toBe('ApiKey');
  });

  test('a key in the query string is not looked at', async () => {
    const url = '/api/v1/leads?X-API-KEY=tpk_good';
    const response = await serve(fakeLeads()).inject({ url });
    expect(response.statusCode).toBe(401);
  });

  test('a consumer without a grant gets 403 before parameters are looked at', async () => {
    const response = await serve(fakeLeads()).inject({
      url: '/api/v1/leads?limit=0',
      headers: { 'x-api-key': KEY_WITHOUT_GRANT },
    });
    expect(response.statusCode).toBe(403);
    expect(response.json().code).toBe('insufficient-scope');
  });

  test('the quota is shown on every response and ends in 429', async () => {
    serve(fakeLeads({ limitPerMinute: 2 }));
    const call = () => app.inject({ url: '/api/v1/leads', headers: withKey });
    const first = await call();
    expect(first.headers['ratelimit-policy']).toBe('"default";q=2;w=60');
    expect(first.headers['ratelimit']).toMatch(/^"default";r=1;t=\d+$/);
    await call();
    const third = await call();
    expect(third.statusCode).toBe(429);
    expect(third.json().code).toBe('quota-exceeded');
    expect(Number(third.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(third.headers['ratelimit']).toMatch(/^"default";r=0;/);
  });

  test('calls without the grant are of the quota, too', async () => {
    serve(fakeLeads({ limitPerMinute: 1 }));
    const headers = { 'x-api-key': KEY_WITHOUT_GRANT };
    const call = async () => (await app.inject({ url: '/api/v1/leads', headers })).statusCode;
    expect([await call(), await call()]).toEqual([403, 429]);
  });

  test('an address that tries many bad keys gets 429, and still 200 with a good one', async () => {
    app = buildTestApp({ ...fakeLeads(), refusedPerMinute: 3 });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt += 1)
      statuses.push((await app.inject('/api/v1/leads')).statusCode);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await app.inject('/api/v1/leads')).headers).toMatchObject({
      'retry-after': expect.stringMatching(/^\d+$/),
      'ratelimit-policy': '"default";q=3;w=60',
      ratelimit: expect.stringMatching(/^"default";r=0;t=\d+$/),
    });
    const good = await app.inject({ url: '/api/v1/leads', headers: withKey });
    expect(good.statusCode).toBe(200);
  });
});

describe('caching headers', () => {
  test('show age, freshness and how the response came about', async () => {
    const response = await serve(fakeLeads()).inject({ url: '/api/v1/leads/7', headers: withKey });
    expect(response.json()).toEqual(someLead);
    expect(response.headers).toMatchObject({
      age: '3',
      'cache-control': 'private, no-cache',
      'cache-status': 'trackport; hit; ttl=11',
      vary: 'X-API-KEY',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    });
  });

  test('If-None-Match with the tag gives 304 without a body', async () => {
    serve(fakeLeads());
    const first = await app.inject({ url: '/api/v1/leads', headers: withKey });
    const tag = String(first.headers.etag);
    const headers = { ...withKey, 'if-none-match': tag };
    const second = await app.inject({ url: '/api/v1/leads', headers });
    expect(second.statusCode).toBe(304);
    expect(second.body).toBe('');
    expect(second.headers.etag).toBe(tag);
    expect(second.headers['cache-status']).toBeDefined();
    expect(second.headers['content-type']).toBeUndefined();
  });

  test.each([
    ['/api/v1/leads', withKey],
    ['/openapi.json', {}],
  ])('a 304 to HEAD of %s tells no length, for nothing is known of it', async (url, more) => {
    serve(fakeLeads());
    const first = await app.inject({ method: 'HEAD', url, headers: more });
    expect(first.statusCode).toBe(200);
    expect(Number(first.headers['content-length'])).toBeGreaterThan(0);
    const headers = { ...more, 'if-none-match': String(first.headers.etag) };
    const second = await app.inject({ method: 'HEAD', url, headers });
    expect(second.statusCode).toBe(304);
    expect(second.headers['content-length']).toBeUndefined();
    expect(second.headers.etag).toBe(first.headers.etag);
  });
});

describe('one lead', () => {
  test('hands any id to the reader, which decides', async () => {
    const failure = new TrackportError('lead-not-found', { detail: 'No such lead.' });
    const leads = fakeLeads({ failure });
    serve(leads);
    for (const id of ['7', '007', 'abc', '-1', '1%2F2', '%F0%9F%98%80', '9'.repeat(500)]) {
      const response = await app.inject({ url: `/api/v1/leads/${id}`, headers: withKey });
      expect(response.statusCode).toBe(404);
      expect(response.json().code).toBe('lead-not-found');
    }
    expect(leads.read).toHaveLength(7);
  });

  test('refuses query parameters', async () => {
    const errors = await errorsOf('/api/v1/leads/7?expand=all');
    expect(errors).toMatchObject([{ parameter: 'expand', code: 'unknown' }]);
  });
});

test.each([
  ['tracker-failed', 502],
  ['tracker-unavailable', 503],
  ['store-unavailable', 503],
  ['invalid-cursor', 400],
] as const)('%s of the reader is answered as %i', async (code, status) => {
  const failure = new TrackportError(code, { detail: 'Sorry.', retryAfterSeconds: 17 });
  const response = await serve(fakeLeads({ failure })).inject({
    url: '/api/v1/leads?cursor=x',
    headers: withKey,
  });
  expect(response.statusCode).toBe(status);
  expect(response.json().code).toBe(code);
  expect(response.headers['retry-after']).toBe('17');
  expect(response.headers.etag).toBeUndefined();
});
