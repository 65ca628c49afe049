/** Documents that machines find without being told, and the contact for a vulnerability. */
import { globSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { DAY } from '#shared/clock.ts';
import { createFakeClock } from '../../support/clock.ts';
import { buildTestApp, PUBLIC_URL } from '../../support/http/app.ts';

let app: HttpApp;
afterEach(() => app.close());

const documents = [...globSync('docs/**/*.md'), 'docs/SECURITY.md'];

test.each(documents)('/%s is served as Markdown', async (name) => {
  app = buildTestApp();
  const response = await app.inject(`/${name}`);
  expect([response.statusCode, response.headers['content-type']]).toEqual([
    200,
    'text/markdown; charset=utf-8',
  ]);
  expect(response.body).toMatch(/^# /);
  const headers = { 'if-none-match': String(response.headers.etag) };
  expect((await app.inject({ url: `/${name}`, headers })).statusCode).toBe(304);
});

test.each([
  'README.md',
  'none.md',
  'how-to/none.md',
  'images/portal.png',
  '..%2fREADME.md',
  'how-to/..%2f..%2fREADME.md',
  'how-to%2f..%2f..%2fREADME.md',
  'config/default.yaml',
])('no other file can be had: %s', async (name) => {
  app = buildTestApp();
  expect((await app.inject(`/docs/${name}`)).statusCode).toBe(404);
});

test('llms.txt says what this is and leads to every document that users need', async () => {
  app = buildTestApp();
  const { statusCode, body } = await app.inject('/llms.txt');
  expect(statusCode).toBe(200);
  expect(body).toMatch(/^# Trackport\n\n> /);
  const links = [...body.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  for (const link of links) {
    expect(link).toMatch(`${PUBLIC_URL}/`);
    expect((await app.inject(link.slice(PUBLIC_URL.length))).statusCode).toBe(200);
  }
  const listed = new Set(links.map((link) => link.slice(PUBLIC_URL.length + 1)));
  const missing = documents.filter(
    (name) => !listed.has(name) && !name.startsWith('docs/decisions/'),
  );
  expect(missing).toEqual([]);
});

describe('security.txt', () => {
  const PATH = '/.well-known/security.txt';

  test('is not there without a contact', async () => {
    app = buildTestApp();
    expect((await app.inject(PATH)).statusCode).toBe(404);
  });

  test.each([
    ['security@example.com', 'mailto:security@example.com'],
    ['mailto:security@example.com', 'mailto:security@example.com'],
    ['https://example.com/report', 'https://example.com/report'],
  ])('names the contact %s, until when it holds, and where it stands', async (given, contact) => {
    const clock = createFakeClock();
    app = buildTestApp({ securityContact: given, clock });
    const response = await app.inject(PATH);
    expect(response.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(response.body.split('\n')).toEqual([
      `Contact: ${contact}`,
      `Expires: ${new Date(clock.now() + 180 * DAY).toISOString()}`,
      'Preferred-Languages: en',
      `Canonical: ${PUBLIC_URL}${PATH}`,
      `Policy: ${PUBLIC_URL}/docs/SECURITY.md`,
      '',
    ]);
  });

  test('names no address of the web that is not https', async () => {
    const publicUrl = () => 'http://127.0.0.1:8080';
    app = buildTestApp({ securityContact: 'security@example.com', publicUrl });
    expect((await app.inject(PATH)).body).not.toContain('http:');
  });
});
