import { errorCodes } from '#shared/outcomes/problems.ts';
import { afterEach, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { buildTestApp, PUBLIC_URL } from '../../support/http/app.ts';

let app: HttpApp;
afterEach(() => app.close());

const accept = { accept: 'application/json' };

test('the list has every code, and each leads to its page', async () => {
  app = buildTestApp();
  const { body, headers } = await app.inject('/problems');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers.vary).toBe('Accept');
  const links = [...body.matchAll(/href="(problems\/[^"]+)"/g)].map(([, href]) => href);
  expect(links).toEqual(errorCodes.map((code) => `problems/${code}`));
  for (const href of links) expect((await app.inject(`/${href}`)).statusCode).toBe(200);
});

test('as JSON it has what each page says', async () => {
  app = buildTestApp();
  const response = await app.inject({ url: '/problems', headers: accept });
  const { items } = response.json<{ items: { code: string }[] }>();
  expect(items.map(({ code }) => code)).toEqual([...errorCodes]);
  expect(items.find(({ code }) => code === 'not-found')).toEqual({
    type: `${PUBLIC_URL}/problems/not-found`,
    code: 'not-found',
    status: 404,
    title: expect.any(String),
    meaning: expect.any(String),
    remedy: expect.any(String),
  });
  const one = await app.inject({ url: '/problems/not-found', headers: accept });
  expect(items).toContainEqual(one.json());
});

test('with a slash too many one is led to the list', async () => {
  app = buildTestApp();
  const response = await app.inject('/problems/');
  expect([response.statusCode, response.headers.location]).toEqual([308, '../problems']);
});
