import { assetPath, findAsset } from '#portal/assets/assets.ts';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

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

test('the sheet names no other host and no address at all', () => {
  const path = assetPath('portal.css').slice('/portal/assets/'.length);
  expect(findAsset(path)?.bodies.identity.toString()).not.toMatch(/url\(|@import/);
});
