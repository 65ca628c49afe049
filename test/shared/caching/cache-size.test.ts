import { LRUCache } from 'lru-cache';
import { expect, test } from 'vitest';
import { atMostEntries } from '#shared/caching/cache-size.ts';

test('a cache of at most so many entries drops the one that was used longest ago', () => {
  const cache = new LRUCache<string, number>(atMostEntries(2));
  for (const [value, key] of ['a', 'b'].entries()) cache.set(key, value);
  cache.get('a');
  cache.set('c', 2);
  expect([...cache.keys()].sort()).toEqual(['a', 'c']);
});
