import { LRUCache } from 'lru-cache';
import type { KeptAnswer } from '#shared/idempotency.ts';

/** Rendered answers that hold for as long as nothing at all was written to the store. */
export type KeptAnswers = {
  /** The answer under `key`, made now unless it was made since the last write. */
  read(key: string, make: () => Promise<KeptAnswer>): Promise<KeptAnswer>;
};

const BYTES_MAX = 16 * 1024 * 1024;
const ANSWER_BYTES_MAX = 1024 * 1024;
const OVERHEAD_BYTES = 500;

/** `version` is another number whenever the store may have changed. */
export function createKeptAnswers(version: () => Promise<number>): KeptAnswers {
  const kept = new LRUCache<string, { answer: KeptAnswer; version: number }>({
    maxSize: BYTES_MAX,
    maxEntrySize: ANSWER_BYTES_MAX,
    sizeCalculation: ({ answer }, key) => OVERHEAD_BYTES + key.length + (answer.body?.length ?? 0),
  });
  return {
    read: async (key, make) => {
      // Read before the answer is made: a write in between must not be missed.
      const now = await version();
      const known = kept.get(key);
      if (known?.version === now) return known.answer;
      const answer = await make();
      kept.set(key, { answer, version: now });
      return answer;
    },
  };
}
