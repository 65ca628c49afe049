import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { html } from '#portal/html.ts';
import { page } from '#portal/routes/page-route.ts';
import { startPortal } from '../../support/world.ts';

const HTML = 'text/html; charset=utf-8';
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

const params = z.object({ id: z.string() });

/** The first page, and one with a part of its path that anybody can fill. */
const show = async () => ({ title: 'One', section: 'consumers', body: html`<p>One.</p>` }) as const;
const twoPages = [
  page({ path: '/portal', show }),
  page({ path: '/portal/consumers/:id', params, show }),
];

describe('at a path of the portal a failure is a page', () => {
  test.each<['GET' | 'POST', string, number]>([
    ['GET', '/portal/%zz', 400],
    ['GET', '/portal%zz', 400],
    ['POST', '/portal/%zz', 400],
    ['GET', `/portal/consumers/${'x'.repeat(2000)}`, 404],
    ['GET', `/portal/nothing/${'x'.repeat(9000)}`, 414],
    ['GET', '/portal/nothing', 404],
    ['GET', '/portal/things/..%2f..%2fx', 404],
    ['POST', '/portal/nothing', 404],
  ])('%s %s', async (method, url, status) => {
    const { app } = startPortal(twoPages);
    const response = await app.inject({ method, url, headers: browser });
    expect(response.statusCode).toBe(status);
    const isPortal = url.startsWith('/portal/') || url === '/portal';
    expect(response.headers['content-type']).toBe(isPortal ? HTML : 'application/problem+json');
    if (!isPortal) return;
    expect(response.headers['content-security-policy']).toContain("default-src 'none'");
    expect(response.body).toContain('<h1>');
    expect(response.body).toContain('href="/portal"');
    expect(response.body).toContain(String(response.headers['x-request-id']));
    expect(response.body).not.toContain('xxxx');
    expect(response.body.includes('This address cannot be read')).toBe(status === 400);
  });

  test.each([
    ['PUT', '/portal', 'GET, HEAD'],
    ['PATCH', '/portal/consumers/%31', 'GET, HEAD'],
    ['PUT', '/portal/sign-out', 'GET, HEAD, POST'],
  ] as const)('%s %s is 405, and Allow says %s', async (method, url, allow) => {
    const { app } = startPortal(twoPages);
    const headers = { ...browser, 'content-type': 'application/json' };
    const response = await app.inject({ method, url, headers, payload: '{' });
    expect(response.statusCode).toBe(405);
    expect(response.headers).toMatchObject({ allow, 'content-type': HTML });
    expect(response.body).toContain('method-not-allowed');
  });

  test.each([
    { scopes: ['trackport:admin'], isLinked: true },
    { scopes: ['catalog:read'], isLinked: false },
  ])(
    'with the whole id of the request, which leads who may see it to the audit: $scopes',
    async ({ scopes, isLinked }) => {
      const { signIn } = startPortal();
      const { body, headers } = await (await signIn(scopes)).get('/portal/nowhere');
      const id = String(headers['x-request-id']);
      expect(body).toContain(`<code>${id}</code>`);
      expect(body.includes(`<a href="/portal/audit?request=${id}">`)).toBe(isLinked);
    },
  );

  test('and to who asks for JSON a problem, as at every path of the API', async () => {
    const { app } = startPortal();
    const json = { accept: 'application/json' };
    const asked = await app.inject({ url: '/portal/%zz', headers: json });
    const api = await app.inject({ url: '/api/v1/%zz', headers: browser });
    for (const { statusCode, headers } of [asked, api]) {
      expect(statusCode).toBe(400);
      expect(headers['content-type']).toBe('application/problem+json');
    }
  });

  test('also when its headers never became a request', async () => {
    const { app } = startPortal();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const send = (target: string): Promise<string> => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nCookie: ${'x'.repeat(17_000)}\r\n\r\n`);
      return text(socket);
    };
    const page = await send('/portal/receipts');
    expect(page).toMatch(/^HTTP\/1\.1 431 /);
    expect(page).toContain(`content-type: ${HTML}`);
    expect(page).toContain('delete the cookies of this address');
    expect(page).toContain('</html>');
    expect(await send('/api/v1/leads')).toContain('content-type: application/problem+json');
  });
});
