import { assetPath, findAsset } from '#portal/assets.ts';
import { expect, test } from 'vitest';
import { startPortal } from '../support/world.ts';

const names = ['portal.css', 'portal.js', 'mark.svg'] as const;

test.each(names)('%s is found by the name that pages give it', (name) => {
  const path = assetPath(name);
  expect(path).toMatch(/^\/portal\/assets\/[a-z]+-[0-9a-f]{16}\.(css|js|svg)$/);
  expect(findAsset(path.slice('/portal/assets/'.length))?.bytes.length).toBeGreaterThan(100);
});

test.each(['portal.css', 'portal-0000000000000000.css', '../assets.ts', 'toString', ''])(
  'nothing is served as %j',
  (file) => expect(findAsset(file)).toBeUndefined(),
);

const path = assetPath('portal.css');

test('the style sheet comes to anybody, to be kept for ever', async () => {
  const { app } = startPortal();
  const response = await app.inject({ url: path });
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  });
  expect(response.headers['set-cookie']).toBeUndefined();
});

test('who has it gets 304', async () => {
  const { app } = startPortal();
  const { etag = '' } = (await app.inject({ url: path })).headers;
  const again = await app.inject({ url: path, headers: { 'if-none-match': etag } });
  expect(again.statusCode).toBe(304);
});

test('HEAD says the same without the file, another name is not there', async () => {
  const { app } = startPortal();
  const head = await app.inject({ url: path, method: 'HEAD' });
  expect([head.statusCode, head.body]).toEqual([200, '']);
  expect((await app.inject({ url: '/portal/assets/portal.css' })).statusCode).toBe(404);
});
