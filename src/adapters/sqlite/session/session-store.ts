import type { SessionStore } from '#access/sessions/session-store.ts';
import type { Database } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';
import { fromStoredSession, SESSION_COLUMNS } from './rows.ts';
import type { StoredSession } from './rows.ts';
import { sessionWrites } from './write-family.ts';

/** Sessions in SQLite. */
export function createSessionStore(database: Database): SessionStore {
  const find = guard(() =>
    database.handle.prepare<[Buffer], StoredSession>(
      `SELECT ${SESSION_COLUMNS} FROM session WHERE digest = ?`,
    ),
  );
  const readOnce = guard(() =>
    database.handle.prepare<[Parameters<SessionStore['readOnce']>[0]], { sealed: Buffer }>(
      'SELECT sealed FROM session_once WHERE digest = @digest AND session = @session AND endsAt > @now',
    ),
  );
  const write = database.writer.open(sessionWrites, undefined);
  return {
    insert: (row) => write('insert', row),
    find: async (digest) =>
      guard(() => {
        const row = find.get(digest);
        return row && fromStoredSession(row);
      }),
    touch: (digest, usedAt) => write('touch', digest, usedAt),
    setTimeZone: (digest, timeZone) => write('setTimeZone', digest, timeZone),
    claimRenewal: (digest, times) => write('claimRenewal', digest, times),
    renew: (digest, next) => write('renew', digest, next),
    end: (digest) => write('end', digest),
    endOfIssuer: (which, token) => write('endOfIssuer', which, token),
    putOnce: (row) => write('putOnce', row),
    takeOnce: (which) => write('takeOnce', which),
    readOnce: async (which) => guard(() => readOnce.get(which)?.sealed),
    purge: (over) => write('purge', over),
  };
}
