import { Validator } from '@seriousme/openapi-schema-validator';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { problems } from '#shared/outcomes/problems.ts';
import { renderOpenApi } from '#compose/openapi.ts';
import { buildTestApp, serviceReports } from '../../support/http/app.ts';
import { fakeLeads } from '../../support/http/leads.ts';
import { openDocument, operationsOf } from '../../support/http/openapi.ts';

let app: HttpApp | undefined;
afterEach(() => app?.close());

describe('openapi.json', () => {
  test('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(JSON.parse(await renderOpenApi()));
    expect(result).toEqual({ valid: true });
  });

  test('is served with a validator, and shows only areas that are there', async () => {
    app = buildTestApp();
    const response = await app.inject('/openapi.json');
    expect(response.statusCode).toBe(200);
    const paths = Object.keys(response.json().paths);
    const areas = paths.flatMap((path) => path.split('/api/v1/')[1]?.split('/')[0] ?? []);
    expect([...new Set(areas)]).toEqual(['leads', 'me', 'webhooks', 'receipt-status']);
    const headers = { 'if-none-match': String(response.headers.etag) };
    expect((await app.inject({ url: '/openapi.json', headers })).statusCode).toBe(304);
  });

  test('is made once for all who ask while there is none yet, and again after a failure', async () => {
    app = buildTestApp({ ...fakeLeads() });
    await app.ready();
    const { routes } = app;
    const made = vi
      .fn(() => routes)
      .mockImplementationOnce(() => {
        throw new Error('out of memory');
      });
    Object.defineProperty(app, 'routes', { get: made });
    expect((await app.inject('/openapi.json')).statusCode).toBe(500);
    expect(made).toHaveBeenCalledTimes(1);
    const both = await Promise.all([app.inject('/openapi.json'), app.inject('/openapi.json')]);
    expect(both.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(made).toHaveBeenCalledTimes(2);
  });

  test('every operation names its credential, its problems and its headers', async () => {
    const document = openDocument(JSON.parse(await renderOpenApi()));
    const known = new Set(Object.values(problems).map(({ status }) => String(status)));
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThan(2);
    for (const { operation } of operations) {
      expect(operation).toMatchObject({
        operationId: expect.any(String),
        summary: expect.any(String),
        security: expect.any(Array),
      });
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.headers?.['X-Request-Id']).toBeDefined();
        if (!known.has(status)) continue;
        expect(Object.keys(response.content ?? {})).toEqual(['application/problem+json']);
      }
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining(['405', '500', '503']),
      );
    }
  });
});

test.each(['/openapi.json', '/problems/overloaded', '/healthz', '/readyz', '/metrics'])(
  '%s refuses a query parameter, as every path of the API does',
  async (url) => {
    app = buildTestApp({ operations: serviceReports() });
    expect((await app.inject(url)).statusCode).toBe(200);
    const response = await app.inject(`${url}?x=1`);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      code: 'validation-failed',
      errors: [{ parameter: 'x' }],
    });
  },
);

describe('the docs', () => {
  const pages = [
    '/docs',
    '/docs/start.js',
    '/docs/page.css',
    '/docs/swagger-ui.css',
    '/docs/favicon-32x32.png',
  ];

  test.each([...pages, '/docs/swagger-ui-bundle.js'])('%s is served from here', async (url) => {
    app = buildTestApp();
    const response = await app.inject(url);
    expect(response.statusCode).toBe(200);
    expect(response.rawPayload.length).toBeGreaterThan(100);
  });

  test('the page loads nothing from elsewhere and may not', async () => {
    app = buildTestApp();
    const page = await app.inject('/docs');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|upgrade-insecure-requests|unsafe/);
    expect(page.body).not.toMatch(/https?:|src="\/\/|<script>|\son\w+=/);
    for (const [, target = ''] of page.body.matchAll(/(?:src|href)="([^"]+)"/g))
      expect((await app.inject(`/${target}`)).statusCode).toBe(200);
    expect((await app.inject('/docs/start.js')).body).toContain('validatorUrl: null');
    expect((await app.inject('/docs/swagger-ui.css')).body).not.toMatch(
      /@import|url\(["']?https?:/,
    );
  });

  test.each([...pages, '/docs?x=1'])('%s takes any query: people open it', async (url) => {
    app = buildTestApp();
    expect((await app.inject(`${url}${url.includes('?') ? '&' : '?'}v=1`)).statusCode).toBe(200);
  });

  test('a slash at the end leads to the page, below a prefix, too', async () => {
    app = buildTestApp();
    const response = await app.inject('/docs/');
    expect(response.statusCode).toBe(308);
    expect(response.headers.location).toBe('../docs');
  });

  test.each([
    'package.json',
    '..%2fpackage.json',
    '%2e%2e%2findex.js',
    'swagger-ui.js',
    'constructor',
    'docs',
    'openapi.json',
  ])('no other file can be had: %s', async (name) => {
    app = buildTestApp();
    for (const page of ['/docs', '/openapi.json'])
      expect((await app.inject(page)).statusCode).toBe(200);
    expect((await app.inject(`/docs/${name}`)).statusCode).toBe(404);
  });
});
