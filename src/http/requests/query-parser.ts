import { parse } from 'node:querystring';
import { LRUCache } from 'lru-cache';

const QUERIES_MAX = 1000;
const QUERY_CHARACTERS_MAX = 300;

/**
 * Query strings to objects. The same text gives the same frozen object while it is cached, so
 * that what was concluded from it can be cached as well. Repeated names become arrays.
 */
export function createQueryParser(): (text: string) => Record<string, unknown> {
  const cache = new LRUCache<string, Record<string, unknown>>({ max: QUERIES_MAX });
  return (text) => {
    const cached = cache.get(text);
    if (cached) return cached;
    const query = Object.freeze(parse(text, '&', '=', { maxKeys: 0 }));
    if (text.length <= QUERY_CHARACTERS_MAX) cache.set(text, query);
    return query;
  };
}
