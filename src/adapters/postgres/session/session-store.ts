import type { SessionRow, SessionStore } from '#access/sessions/session-store.ts';
import type { Database } from '../connection/database.ts';
import * as sql from './statements.ts';

/** A session as its table has it. */
type StoredSession = Omit<SessionRow, 'issuerSession' | 'renewAt'> & {
  issuerSession: string | null;
  renewAt: number | null;
};

/** Sessions in PostgreSQL. */
export function createSessionStore(database: Database): SessionStore {
  const change = async (text: string, values: object): Promise<void> => {
    await database.run(text, { ...values });
  };
  return {
    insert: ({ issuerSession = null, renewAt = null, ...row }) =>
      change(sql.INSERT, { ...row, issuerSession, renewAt }),
    find: async (digest) => {
      const row = await database.get<StoredSession>(sql.FIND, { digest });
      return row && fromStoredSession(row);
    },
    touch: (digest, usedAt) => change(sql.TOUCH, { digest, usedAt }),
    setTimeZone: (digest, timeZone) => change(sql.SET_TIME_ZONE, { digest, timeZone }),
    claimRenewal: async (digest, times) =>
      (await database.run(sql.CLAIM_RENEWAL, { digest, ...times })) === 1,
    renew: (digest, { sealed, renewAt = null }) => change(sql.RENEW, { digest, sealed, renewAt }),
    end: (digest) => change(sql.END, { digest }),
    endOfIssuer: async ({ issuerSubject = null, issuerSession = null, startedUntil }, token) => {
      const which = { issuerSubject, issuerSession, startedUntil, ...token };
      return (await database.get<{ ended: number }>(sql.END_OF_ISSUER, which))?.ended;
    },
    putOnce: (row) => change(sql.PUT_ONCE, row),
    takeOnce: async (which) =>
      (await database.get<{ sealed: Buffer }>(sql.TAKE_ONCE, which))?.sealed,
    readOnce: async (which) =>
      (await database.get<{ sealed: Buffer }>(sql.READ_ONCE, which))?.sealed,
    purge: async (over) => {
      await change(sql.PURGE_ONCE, over);
      await change(sql.PURGE_LOGOUTS, over);
      return database.run(sql.PURGE, over);
    },
  };
}

function fromStoredSession({ issuerSession, renewAt, ...row }: StoredSession): SessionRow {
  return {
    ...row,
    ...(issuerSession !== null && { issuerSession }),
    ...(renewAt !== null && { renewAt }),
  };
}
