import { LRUCache } from 'lru-cache';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { SECOND } from '#shared/clock.ts';

const ENTRIES_MAX = 10_000;

/**
 * Keeps sessions, codes and grants in memory until they expire, the latest 10,000 of them. Replaces
 * the provider's own, which warns on standard error that it is not for production.
 */
export function createMemory(): AdapterFactory {
  const entries = new LRUCache<string, AdapterPayload>({ max: ENTRIES_MAX });
  return (kind) => {
    const keyOf = (id: string): string => `${kind}:${id}`;
    return {
      upsert: async (id, payload, expiresIn = 0) => {
        entries.set(keyOf(id), payload, expiresIn > 0 ? { ttl: expiresIn * SECOND } : {});
      },
      find: async (id) => entries.get(keyOf(id)),
      findByUid: async (uid) => findIn(entries, `${kind}:`, (entry) => entry.uid === uid),
      findByUserCode: async (userCode) =>
        findIn(entries, `${kind}:`, (entry) => entry.userCode === userCode),
      consume: async (id) => {
        const entry = entries.get(keyOf(id));
        if (entry) entry.consumed = Math.floor(Date.now() / SECOND);
      },
      destroy: async (id) => {
        entries.delete(keyOf(id));
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, entry] of entries) if (entry.grantId === grantId) entries.delete(key);
      },
    } satisfies Adapter;
  };
}

function findIn(
  entries: LRUCache<string, AdapterPayload>,
  prefix: string,
  isWanted: (entry: AdapterPayload) => boolean,
): AdapterPayload | undefined {
  for (const [key, entry] of entries) if (key.startsWith(prefix) && isWanted(entry)) return entry;
  return undefined;
}
