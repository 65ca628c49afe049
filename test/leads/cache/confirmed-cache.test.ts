import { expect, test } from 'vitest';
import { createConfirmedCache } from '#leads/cache/confirmed-cache.ts';
import { createCallPolicy } from '#leads/cache/call-policy.ts';
import { createFakeClock } from '../../support/clock.ts';

function createCache() {
  const clock = createFakeClock();
  const loads: string[] = [];
  const cache = createConfirmedCache<string>({
    clock,
    calls: createCallPolicy({ clock, quota: () => undefined }),
    freshForMs: 15_000,
    staleIfErrorMs: 0,
    bytesMax: 1_000_000,
    sizeOf: () => 1,
  });
  const read = (key: string) =>
    cache.get({
      key,
      load: () => {
        loads.push(key);
        return Promise.resolve({ value: key });
      },
      isLagging: () => false,
    });
  return { cache, loads, read };
}

test('an event asks only of entries that no earlier one has changed', async () => {
  const { cache, read } = createCache();
  for (const key of ['a', 'b', 'c']) await read(key);
  const asked: string[] = [];
  const invalidate = (...changed: string[]) =>
    cache.invalidate((value) => {
      asked.push(value);
      return changed.includes(value);
    });
  invalidate('a', 'b');
  invalidate();
  invalidate('c');
  invalidate('c');
  expect(asked.toSorted()).toEqual(['a', 'b', 'c', 'c', 'c']);
});

test('one entry can be changed by its key, and no other is', async () => {
  const { cache, loads, read } = createCache();
  for (const key of ['a', 'b']) await read(key);
  cache.invalidateKey('a');
  cache.invalidateKey('unknown');
  expect([cache.peek('a'), cache.peek('b')?.value]).toEqual([undefined, 'b']);
  for (const key of ['a', 'b']) await read(key);
  expect(loads).toEqual(['a', 'b', 'a']);
});

test('a load in flight of a key that changes is not trusted', async () => {
  const { cache, loads, read } = createCache();
  const early = read('a');
  const other = read('b');
  cache.invalidateKey('a');
  await Promise.all([early, other]);
  expect(cache.peek('a')).toBeUndefined();
  expect(cache.peek('b')?.value).toBe('b');
  await read('a');
  expect(loads).toEqual(['a', 'b', 'a']);
});
