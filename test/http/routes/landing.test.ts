import { createHash } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { buildTestApp, serviceReports } from '../../support/http/app.ts';

let app: HttpApp;
afterEach(() => app.close());

const linksIn = (page: string) => [...page.matchAll(/href="([^"]+)"/g)].map(([, href]) => href);

const operations = serviceReports();

test('the first page leads to what there is, and each place is there', async () => {
  app = buildTestApp({ operations });
  const { statusCode, body, headers } = await app.inject('/');
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const links = linksIn(body).filter((href) => href !== 'data:,');
  expect(links).toEqual(['docs', 'openapi.json', 'problems', 'readyz']);
  for (const href of links) expect((await app.inject(`/${href}`)).statusCode).toBe(200);
});

test('what another port serves, or nobody, is not offered', async () => {
  app = buildTestApp();
  expect(linksIn((await app.inject('/')).body)).not.toContain('readyz');
  expect(linksIn((await app.inject('/')).body)).not.toContain('portal');
});

test('the portal is offered where it is configured', async () => {
  app = buildTestApp({ portal: () => undefined });
  expect(linksIn((await app.inject('/')).body)[1]).toBe('portal');
});

test('it takes any query, says the same to HEAD, and nothing else', async () => {
  app = buildTestApp();
  expect((await app.inject('/?utm_source=mail')).statusCode).toBe(200);
  const head = await app.inject({ method: 'HEAD', url: '/' });
  expect([head.statusCode, head.body]).toEqual([200, '']);
  const post = await app.inject({ method: 'POST', url: '/' });
  expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
});

test.each(['/', '/problems', '/problems/not-found'])(
  '%s allows nothing but its own style',
  async (url) => {
    app = buildTestApp();
    const { body, headers } = await app.inject(url);
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(body) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(body).not.toMatch(/<script|\sstyle=|\son[a-z]+=/);
  },
);
