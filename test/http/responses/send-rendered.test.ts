import { type IncomingHttpHeaders, request as open } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { HttpApp } from '#http/http-app.ts';
import type { Lead } from '#leads/model/lead-out.ts';
import { buildTestApp } from '../../support/http/app.ts';
import { fakeLeads, someLead, withKey } from '../../support/http/leads.ts';

const SALES = 'https://sales.example.com';

let app: HttpApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

type Received = {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  /** As they came: in `headers` those that came twice are one. */
  names: string[];
  body: Buffer;
};

/** Over a connection, as no test within the process can tell which bytes leave. */
async function ask(
  lead: Lead,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Received> {
  app ??= buildTestApp({ ...fakeLeads({ lead }), corsOrigins: [SALES] });
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `${app.listeningOrigin}/api/v1/leads/7`;
  return new Promise((resolve, reject) => {
    open(url, { method, headers: { ...withKey, ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          names: response.rawHeaders.filter((_, at) => at % 2 === 0),
          body: Buffer.concat(chunks),
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

test.each([
  ['plain', 'Ada'],
  ['with letters of Latin-1', 'Zoë Blümchen'],
  ['with letters beyond', 'Łucja 王 🌻'],
  ['too long for one write', '🌻é'.repeat(5000)],
])('a text that is %s leaves as UTF-8, byte for byte', async (_what, title) => {
  const lead = { ...someLead, title };
  const { status, headers, body } = await ask(lead);
  expect([status, JSON.parse(body.toString('utf8'))]).toEqual([200, lead]);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(Number(headers['content-length'])).toBe(body.length);
});

test('it has the headers of every response, each once', async () => {
  const { headers, names } = await ask(someLead);
  expect(names).toEqual([...new Set(names)]);
  expect(headers).toMatchObject({
    'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'ratelimit-policy': '"default";q=600;w=60',
    ratelimit: expect.stringMatching(/^"default";r=599;t=\d+$/),
    vary: 'X-API-KEY, Origin',
  });
});

test('a page of an origin that may read it sees what hooks would have said', async () => {
  const { headers } = await ask(someLead, { headers: { origin: SALES } });
  expect(headers['access-control-allow-origin']).toBe(SALES);
});

test('a HEAD has the headers of the GET and no body', async () => {
  const lead = { ...someLead, title: 'Zoë 🌻' };
  const got = await ask(lead);
  const head = await ask(lead, { method: 'HEAD' });
  expect([head.status, head.body.length]).toEqual([200, 0]);
  for (const name of ['etag', 'content-type', 'content-length'])
    expect(head.headers[name]).toBe(got.headers[name]);
});

test('a caller that has it gets a 304 without a body or its headers', async () => {
  const { headers } = await ask(someLead);
  const again = await ask(someLead, { headers: { 'if-none-match': String(headers.etag) } });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  expect(again.headers).not.toHaveProperty('content-type');
  expect(again.headers).not.toHaveProperty('content-length');
  expect(again.headers.etag).toBe(headers.etag);
});
