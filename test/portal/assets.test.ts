import { assetPath, findAsset } from '#portal/assets.ts';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startPortal } from '../support/world.ts';

const names = ['portal.css', 'portal.js', 'mark.svg'] as const;

test.each(names)('%s is found by the name that pages give it', (name) => {
  const path = assetPath(name);
  expect(path).toMatch(/^\/portal\/assets\/[a-z]+-[0-9a-f]{16}\.(css|js|svg)$/);
  const asset = findAsset(path.slice('/portal/assets/'.length));
  const plain = asset?.bodies.identity ?? Buffer.alloc(0);
  expect(plain.length).toBeGreaterThan(100);
  expect(gunzipSync(asset?.bodies.gzip ?? '')).toEqual(plain);
  expect(brotliDecompressSync(asset?.bodies.br ?? '')).toEqual(plain);
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
    vary: 'Accept-Encoding',
  });
  expect(response.headers['content-encoding']).toBeUndefined();
  expect(response.headers['set-cookie']).toBeUndefined();
});

test.each([
  ['br, gzip', 'br'],
  ['gzip, deflate', 'gzip'],
  ['gzip;q=1.0, br;q=0', 'gzip'],
  ['br;q=0.000,identity', undefined],
  ['brotli', undefined],
])('to who takes %s it comes as %s', async (accepted, encoding) => {
  const { app } = startPortal();
  const response = await app.inject({ url: path, headers: { 'accept-encoding': accepted } });
  expect(response.headers['content-encoding']).toBe(encoding);
});

test('who has it gets 304, of the encoding that it has', async () => {
  const { app } = startPortal();
  const ask = (headers: Record<string, string>) => app.inject({ url: path, headers });
  const { etag = '' } = (await ask({ 'accept-encoding': 'br' })).headers;
  const again = { 'if-none-match': etag };
  expect((await ask({ ...again, 'accept-encoding': 'br' })).statusCode).toBe(304);
  expect((await ask(again)).statusCode).toBe(200);
});

test('HEAD says the same without the file, another name is not there', async () => {
  const { app } = startPortal();
  const head = await app.inject({ url: path, method: 'HEAD' });
  expect([head.statusCode, head.body]).toEqual([200, '']);
  expect((await app.inject({ url: '/portal/assets/portal.css' })).statusCode).toBe(404);
});
