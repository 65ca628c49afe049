import { afterEach, describe, expect, test } from 'vitest';
import type { HttpApp } from '#http/http-app.ts';
import { Registry } from 'prom-client';
import { TrackportError } from '#shared/errors.ts';
import { openCatalogApp } from '../../support/catalog.ts';
import { buildTestApp } from '../../support/http/app.ts';
import { fakeLeads, withKey, type FakeAnswers } from '../../support/http/leads.ts';

const SALES = 'https://sales.example.com';

let app: HttpApp | undefined;
afterEach(() => app?.close());

function serve(corsOrigins: readonly string[] | undefined, answers?: FakeAnswers): HttpApp {
  app = buildTestApp({
    leads: fakeLeads(answers),
    trackerWebhook: {
      verify: () => Promise.resolve({ kind: 'ignored' }),
      onTrackerEvent: () => undefined,
      settled: async () => {},
    },
    operations: { metrics: new Registry(), checks: () => [], isStopping: () => false },
    ...(corsOrigins && { corsOrigins }),
  });
  return app;
}

const preflightOf = (origin: string, method = 'GET', headers = 'x-api-key') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': headers,
});

type Headers = Readonly<Record<string, unknown>>;

/** Every header of the protocol that an answer has. */
function corsHeaders(headers: Headers): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

function listOf(value: unknown): string[] {
  return String(value)
    .split(',')
    .map((item) => item.trim().toLowerCase());
}

describe('a page of an origin that is named', () => {
  test.each(['/api/v1/leads', '/api/v1/leads/7', '/api/v1/l%65ads'])(
    'may ask for GET %s with the key',
    async (url) => {
      const answer = await serve([SALES]).inject({
        method: 'OPTIONS',
        url,
        headers: preflightOf(SALES, 'GET', 'if-none-match,x-api-key'),
      });
      expect([answer.statusCode, answer.body]).toEqual([204, '']);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': SALES,
        'access-control-allow-methods': 'GET',
        vary: 'Origin',
      });
      const allowed = listOf(answer.headers['access-control-allow-headers']);
      expect(allowed.sort()).toEqual(['authorization', 'if-none-match', 'x-api-key']);
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
      expect(answer.headers['x-request-id']).toBeDefined();
    },
  );

  test('reads answers, and of their headers what a client needs', async () => {
    const answer = await serve([SALES]).inject({
      url: '/api/v1/leads',
      headers: { ...withKey, origin: SALES },
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(SALES);
    expect(listOf(answer.headers.vary)).toEqual(['x-api-key', 'origin']);
    const exposed = listOf(answer.headers['access-control-expose-headers']);
    const sent = ['etag', 'link', 'ratelimit', 'ratelimit-policy', 'x-request-id'];
    for (const name of [...sent, 'retry-after']) expect(exposed).toContain(name);
    for (const name of sent) expect(answer.headers).toHaveProperty(name);
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('reads a 304', async () => {
    const served = serve([SALES]);
    const headers = { ...withKey, origin: SALES };
    const { etag } = (await served.inject({ url: '/api/v1/leads', headers })).headers;
    const answer = await served.inject({
      url: '/api/v1/leads',
      headers: { ...headers, 'if-none-match': String(etag) },
    });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([
      304,
      SALES,
    ]);
  });

  test.each([
    [401, {}, undefined],
    [400, withKey, undefined],
    [503, withKey, new TrackportError('tracker-unavailable', { retryAfterSeconds: 7 })],
  ])('reads why it got a %d', async (status, key, failure) => {
    const answer = await serve([SALES], failure && { failure }).inject({
      url: `/api/v1/leads${status === 400 ? '?limit=0' : ''}`,
      headers: { ...key, origin: SALES },
    });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([
      status,
      SALES,
    ]);
    expect(listOf(answer.headers.vary)).toContain('origin');
  });

  test.each([
    ['/api/v1/me', 'GET'],
    ['/healthz', 'GET'],
    ['/metrics', 'GET'],
    ['/openapi.json', 'GET'],
    ['/api/v1/webhooks/github', 'POST'],
    ['/api/v1/leads', 'HEAD'],
    ['/api/v1/leads', 'POST'],
    ['/api/v1/leadsx', 'GET'],
    ['/api/v1/nothing', 'GET'],
  ] as const)('gets no leave for %s %s', async (url, method) => {
    const served = serve([SALES]);
    const asked = await served.inject({
      method: 'OPTIONS',
      url,
      headers: preflightOf(SALES, method),
    });
    expect([404, 405]).toContain(asked.statusCode);
    const answer = await served.inject({ method, url, headers: { ...withKey, origin: SALES } });
    for (const { headers } of [asked, answer]) expect(corsHeaders(headers)).toEqual([]);
  });
});

describe('a page of another origin', () => {
  test.each([
    'https://sales.example.com.evil.example',
    'http://sales.example.com',
    'https://sales.example.com:8443',
    'https://SALES.example.com',
    'https://evil.example',
    'null',
    '*',
  ])('%s gets nothing', async (origin) => {
    const served = serve([SALES]);
    const asked = await served.inject({
      method: 'OPTIONS',
      url: '/api/v1/leads',
      headers: preflightOf(origin),
    });
    expect([asked.statusCode, asked.headers.allow]).toEqual([405, 'GET, HEAD']);
    const answer = await served.inject({ url: '/api/v1/leads', headers: { ...withKey, origin } });
    expect(answer.statusCode).toBe(200);
    expect(listOf(answer.headers.vary)).toContain('origin');
    for (const { headers } of [asked, answer]) expect(corsHeaders(headers)).toEqual([]);
  });
});

test('what is no preflight is a 405 with what the path takes', async () => {
  for (const headers of [{}, { origin: SALES }, { 'access-control-request-method': 'GET' }]) {
    const answer = await serve([SALES]).inject({
      method: 'OPTIONS',
      url: '/api/v1/leads',
      headers,
    });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(corsHeaders(answer.headers)).toEqual([]);
    await app?.close();
  }
});

test.each([[undefined], [[]]])('without origins (%j) nothing is different', async (origins) => {
  const served = serve(origins);
  const asked = await served.inject({
    method: 'OPTIONS',
    url: '/api/v1/leads',
    headers: preflightOf(SALES),
  });
  const answer = await served.inject({
    url: '/api/v1/leads',
    headers: { ...withKey, origin: SALES },
  });
  expect([asked.statusCode, answer.headers.vary]).toEqual([405, 'X-API-KEY']);
  for (const { headers } of [asked, answer]) expect(corsHeaders(headers)).toEqual([]);
});

test('every origin may read where that is said', async () => {
  const served = serve(['*']);
  for (const origin of [SALES, 'http://localhost:3000', 'null']) {
    const asked = await served.inject({
      method: 'OPTIONS',
      url: '/api/v1/leads',
      headers: preflightOf(origin),
    });
    const answer = await served.inject({ url: '/api/v1/leads', headers: { ...withKey, origin } });
    for (const { headers } of [asked, answer])
      expect(headers['access-control-allow-origin']).toBe('*');
  }
});

test('the catalog’s GETs may be read, and its writes may not be asked for', async () => {
  const { app: catalog } = openCatalogApp({}, undefined, { corsOrigins: [SALES] });
  const ask = (url: string, method: string) =>
    catalog.inject({ method: 'OPTIONS', url, headers: preflightOf(SALES, method) });
  for (const path of ['', '/petstore', '/petstore/versions', '/petstore/audit']) {
    const url = `/api/v1/catalog${path}`;
    expect((await ask(url, 'GET')).statusCode).toBe(204);
    const answer = await catalog.inject({ url, headers: { origin: SALES } });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([
      401,
      SALES,
    ]);
  }
  for (const [method, path] of [
    ['POST', ''],
    ['PUT', '/petstore'],
    ['PATCH', '/petstore'],
    ['DELETE', '/petstore'],
    ['GET', '/petstore/publish'],
  ] as const) {
    const asked = await ask(`/api/v1/catalog${path}`, method);
    expect(asked.statusCode).toBe(405);
    expect(corsHeaders(asked.headers)).toEqual([]);
  }
});
