import { LRUCache } from 'lru-cache';
import { expect, test, vi } from 'vitest';
import { atMostEntries, memoize, memoizePair } from '#shared/caching.ts';

test('the same object is worked out once, an equal one again', () => {
  const make = vi.fn<(key: { a: number }) => object>(({ a }) => ({ a }));
  const of = memoize(make);
  const key = { a: 1 };
  expect(of(key)).toBe(of(key));
  expect(of({ a: 1 })).not.toBe(of(key));
  expect(make).toHaveBeenCalledTimes(2);
});

test('undefined is a value like any other', () => {
  const make = vi.fn<(key: object) => undefined>(() => undefined);
  const of = memoize(make);
  const key = {};
  of(key);
  of(key);
  expect(make).toHaveBeenCalledOnce();
});

test('what is thrown is not kept', () => {
  let failures = 1;
  const of = memoize((_key: object) => {
    if (failures-- > 0) throw new Error('not yet');
    return 'made';
  });
  const key = {};
  expect(() => of(key)).toThrow('not yet');
  expect(of(key)).toBe('made');
});

test('a pair is worked out once, in that order of the two', () => {
  const make = vi.fn<(first: object, second: object) => object>(() => ({}));
  const of = memoizePair(make);
  const [a, b] = [{}, {}];
  expect(of(a, b)).toBe(of(a, b));
  expect(of(b, a)).not.toBe(of(a, b));
  expect(make).toHaveBeenCalledTimes(2);
});

test('a cache of at most so many entries drops the one that was used longest ago', () => {
  const cache = new LRUCache<string, number>(atMostEntries(2));
  for (const [value, key] of ['a', 'b'].entries()) cache.set(key, value);
  cache.get('a');
  cache.set('c', 2);
  expect([...cache.keys()].sort()).toEqual(['a', 'c']);
});
