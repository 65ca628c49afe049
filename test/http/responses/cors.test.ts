import { afterEach, describe, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { TrackportError } from '#shared/errors.ts';
import { openWorld } from '../../support/world.ts';
import { buildTestApp, serviceReports, ignoringWebhook } from '../../support/http/app.ts';
import { fakeLeads, type FakeResponses, withKey } from '../../support/http/leads.ts';

const SALES = 'https://sales.example.com';

let app: HttpApp | undefined;
afterEach(() => app?.close());

function serve(corsOrigins: readonly string[] | undefined, responses?: FakeResponses): HttpApp {
  app = buildTestApp({
    ...fakeLeads(responses),
    trackerWebhook: ignoringWebhook,
    operations: serviceReports(),
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

/** Every header of the protocol that a response has. */
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
      const response = await serve([SALES]).inject({
        method: 'OPTIONS',
        url,
        headers: preflightOf(SALES, 'GET', 'if-none-match,x-api-key'),
      });
      expect([response.statusCode, response.body]).toEqual([204, '']);
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': SALES,
        'access-control-allow-methods': 'GET',
        vary: 'Origin',
      });
      const allowed = listOf(response.headers['access-control-allow-headers']);
      const wanted = ['authorization', 'if-none-match', 'last-event-id', 'x-api-key'];
      expect(allowed.sort()).toEqual(wanted);
      expect(response.headers).not.toHaveProperty('access-control-allow-credentials');
      expect(response.headers['x-request-id']).toBeDefined();
    },
  );

  test('reads responses, and of their headers what a client needs', async () => {
    const response = await serve([SALES]).inject({
      url: '/api/v1/leads',
      headers: { ...withKey, origin: SALES },
    });
    expect(response.statusCode).toBe(200);
    expect(response.headers['access-control-allow-origin']).toBe(SALES);
    expect(listOf(response.headers.vary)).toEqual(['x-api-key', 'origin']);
    const exposed = listOf(response.headers['access-control-expose-headers']);
    const sent = ['etag', 'link', 'ratelimit', 'ratelimit-policy', 'x-request-id'];
    for (const name of [...sent, 'retry-after']) expect(exposed).toContain(name);
    for (const name of sent) expect(response.headers).toHaveProperty(name);
    expect(response.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('reads a 304', async () => {
    const served = serve([SALES]);
    const headers = { ...withKey, origin: SALES };
    const { etag } = (await served.inject({ url: '/api/v1/leads', headers })).headers;
    const response = await served.inject({
      url: '/api/v1/leads',
      headers: { ...headers, 'if-none-match': String(etag) },
    });
    expect([response.statusCode, response.headers['access-control-allow-origin']]).toEqual([
      304,
      SALES,
    ]);
  });

  test.each([
    [401, {}, undefined],
    [400, withKey, undefined],
    [503, withKey, new TrackportError('tracker-unavailable', { retryAfterSeconds: 7 })],
  ])('reads why it got a %d', async (status, key, failure) => {
    const response = await serve([SALES], failure && { failure }).inject({
      url: `/api/v1/leads${status === 400 ? '?limit=0' : ''}`,
      headers: { ...key, origin: SALES },
    });
    expect([response.statusCode, response.headers['access-control-allow-origin']]).toEqual([
      status,
      SALES,
    ]);
    expect(listOf(response.headers.vary)).toContain('origin');
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
    const received = await served.inject({
      method: 'OPTIONS',
      url,
      headers: preflightOf(SALES, method),
    });
    expect([404, 405]).toContain(received.statusCode);
    const response = await served.inject({ method, url, headers: { ...withKey, origin: SALES } });
    for (const { headers } of [received, response]) expect(corsHeaders(headers)).toEqual([]);
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
    const received = await served.inject({
      method: 'OPTIONS',
      url: '/api/v1/leads',
      headers: preflightOf(origin),
    });
    expect([received.statusCode, received.headers.allow]).toEqual([405, 'GET, HEAD']);
    const response = await served.inject({ url: '/api/v1/leads', headers: { ...withKey, origin } });
    expect(response.statusCode).toBe(200);
    expect(listOf(response.headers.vary)).toContain('origin');
    for (const { headers } of [received, response]) expect(corsHeaders(headers)).toEqual([]);
  });
});

test('what is no preflight is a 405 with what the path takes', async () => {
  for (const headers of [{}, { origin: SALES }, { 'access-control-request-method': 'GET' }]) {
    const response = await serve([SALES]).inject({
      method: 'OPTIONS',
      url: '/api/v1/leads',
      headers,
    });
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(corsHeaders(response.headers)).toEqual([]);
    await app?.close();
  }
});

test.each([[undefined], [[]]])('without origins (%j) nothing is different', async (origins) => {
  const served = serve(origins);
  const received = await served.inject({
    method: 'OPTIONS',
    url: '/api/v1/leads',
    headers: preflightOf(SALES),
  });
  const response = await served.inject({
    url: '/api/v1/leads',
    headers: { ...withKey, origin: SALES },
  });
  expect([received.statusCode, response.headers.vary]).toEqual([405, 'X-API-KEY']);
  for (const { headers } of [received, response]) expect(corsHeaders(headers)).toEqual([]);
});

test('every origin may read where that is said', async () => {
  const served = serve(['*']);
  for (const origin of [SALES, 'http://localhost:3000', 'null']) {
    const received = await served.inject({
      method: 'OPTIONS',
      url: '/api/v1/leads',
      headers: preflightOf(origin),
    });
    const response = await served.inject({ url: '/api/v1/leads', headers: { ...withKey, origin } });
    for (const { headers } of [received, response])
      expect(headers['access-control-allow-origin']).toBe('*');
  }
});

test('the catalog’s GETs may be read, and its writes get no preflight', async () => {
  const { app: catalog } = openWorld({ app: { corsOrigins: [SALES] } });
  const ask = (url: string, method: string) =>
    catalog.inject({ method: 'OPTIONS', url, headers: preflightOf(SALES, method) });
  for (const path of ['', '/petstore', '/petstore/versions', '/petstore/audit']) {
    const url = `/api/v1/catalog${path}`;
    expect((await ask(url, 'GET')).statusCode).toBe(204);
    const response = await catalog.inject({ url, headers: { origin: SALES } });
    expect([response.statusCode, response.headers['access-control-allow-origin']]).toEqual([
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
    const received = await ask(`/api/v1/catalog${path}`, method);
    expect(received.statusCode).toBe(405);
    expect(corsHeaders(received.headers)).toEqual([]);
  }
});
