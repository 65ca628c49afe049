import type { OnceRow, SessionRow, SessionStore } from '#access/sessions/session-store.ts';

/** Sessions as long as a test runs. */
export function createMemorySessions(): SessionStore {
  const rows = new Map<string, SessionRow & { renewingUntil?: number }>();
  const once = new Map<string, OnceRow>();
  const logouts = new Set<string>();
  const keyOf = (digest: Buffer): string => digest.toString('hex');
  const change = async (digest: Buffer, changes: Partial<SessionRow>): Promise<void> => {
    const row = rows.get(keyOf(digest));
    if (row) rows.set(keyOf(digest), { ...row, ...changes });
  };
  return {
    insert: async (row) => void rows.set(keyOf(row.digest), row),
    find: async (digest) => rows.get(keyOf(digest)),
    touch: (digest, usedAt) => change(digest, { usedAt }),
    setTimeZone: (digest, timeZone) => change(digest, { timeZone }),
    claimRenewal: async () => true,
    renew: change,
    end: async (digest) => void rows.delete(keyOf(digest)),
    endOfIssuer: async () => 0,
    putOnce: async (row) => void once.set(keyOf(row.digest), row),
    takeOnce: async ({ digest, session, now }) => {
      const row = once.get(keyOf(digest));
      if (!row?.session.equals(session) || row.endsAt <= now) return undefined;
      once.delete(keyOf(digest));
      return row.sealed;
    },
    rememberLogout: async ({ digest }) => {
      const isNew = !logouts.has(keyOf(digest));
      logouts.add(keyOf(digest));
      return isNew;
    },
    purge: async () => 0,
  };
}
