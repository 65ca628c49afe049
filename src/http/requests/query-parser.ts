import { parse } from 'node:querystring';
import { LRUCache } from 'lru-cache';

const QUERIES_MAX = 1000;
const QUERY_CHARACTERS_MAX = 300;

/**
 * Query strings to objects. The same text gives the same frozen object while it is remembered, so
 * that what was concluded from it can be remembered as well. Repeated names become arrays.
 */
export function createQueryParser(): (text: string) => Record<string, unknown> {
  const known = new LRUCache<string, Record<string, unknown>>({ max: QUERIES_MAX });
  return (text) => {
    const remembered = known.get(text);
    if (remembered) return remembered;
    const query = Object.freeze(parse(text, '&', '=', { maxKeys: 0 }));
    if (text.length <= QUERY_CHARACTERS_MAX) known.set(text, query);
    return query;
  };
}
