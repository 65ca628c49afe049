import { LRUCache } from 'lru-cache';

/** Rendered responses that hold for as long as nothing at all was written to the store. */
export type ResponseCache<Response> = {
  /** The response under `key`, made now unless it was made since the last write. */
  read(key: string, make: () => Promise<Response>): Promise<Response>;
};

const BYTES_MAX = 16 * 1024 * 1024;
const RESPONSE_BYTES_MAX = 1024 * 1024;
const OVERHEAD_BYTES = 500;

/** `version` is another number whenever the store may have changed. */
export function createResponseCache<Response extends { body: { length: number } }>(
  version: () => Promise<number>,
): ResponseCache<Response> {
  const cache = new LRUCache<string, { response: Response; version: number }>({
    maxSize: BYTES_MAX,
    maxEntrySize: RESPONSE_BYTES_MAX,
    sizeCalculation: ({ response }, key) => OVERHEAD_BYTES + key.length + response.body.length,
  });
  return {
    read: async (key, make) => {
      // Read before the response is made: a write in between must not be missed.
      const now = await version();
      const cached = cache.get(key);
      if (cached?.version === now) return cached.response;
      const response = await make();
      cache.set(key, { response, version: now });
      return response;
    },
  };
}
