import { expect, test } from 'vitest';
import { createResponseCache } from '#http/responses/response-cache.ts';

function setUp() {
  let version = 1;
  let made = 0;
  const make = async () => ({ status: 200, headers: {}, body: String((made += 1)) });
  const cache = createResponseCache(async () => version);
  return {
    cache,
    make,
    write: () => void (version += 1),
    read: async (key: string) => (await cache.read(key, make)).body,
  };
}

test('a response is made once for as long as nothing is written', async () => {
  const { read } = setUp();
  expect([await read('a'), await read('a'), await read('b')]).toEqual(['1', '1', '2']);
});

test('a write makes every response anew', async () => {
  const { read, write } = setUp();
  await read('a');
  write();
  expect(await read('a')).toBe('2');
});

test('a write while a response is made counts against it', async () => {
  const { cache, make, read, write } = setUp();
  await cache.read('a', async () => {
    write();
    return make();
  });
  expect(await read('a')).toBe('2');
});

test('a failure is not cached', async () => {
  const { cache, read } = setUp();
  await expect(cache.read('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await read('a')).toBe('1');
});
