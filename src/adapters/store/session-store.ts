import type { OnceRow, SessionRow, SessionStore } from '#access/sessions/session-store.ts';
import type { Tx, Database, Values } from '#shared/database.ts';
import { bindWrites } from './bind-writes.ts';

const COLUMNS = 'digest, signed_in_at, used_at, ends_at, sealed';

const INSERT = `
  INSERT INTO session (${COLUMNS})
  VALUES (@digest, @signedInAt, @usedAt, @endsAt, @sealed)`;

const FIND = `SELECT ${COLUMNS} FROM session WHERE digest = @digest`;

const TOUCH = 'UPDATE session SET used_at = @usedAt WHERE digest = @digest AND used_at < @usedAt';

const SIGN_IN_AGAIN = `
  UPDATE session SET sealed = @sealed, signed_in_at = @signedInAt WHERE digest = @digest`;

const END = 'DELETE FROM session WHERE digest = @digest';

/** The session may have ended meanwhile: then nobody will see it. */
const PUT_ONCE = `
  INSERT INTO session_once (digest, session, ends_at, sealed)
  SELECT @digest, digest, @endsAt, @sealed FROM session WHERE digest = @session FOR KEY SHARE`;

const TAKE_ONCE = `
  DELETE FROM session_once
  WHERE digest = @digest AND session = @session AND ends_at > @now RETURNING sealed`;

const PURGE = 'DELETE FROM session WHERE ends_at <= @now OR used_at <= @unusedSince';
const PURGE_ONCE = 'DELETE FROM session_once WHERE ends_at <= @now';

/** Sessions, whatever the engine. */
export function createSessionStore(database: Database): SessionStore {
  return {
    ...bindWrites(database.transaction, sessionWrites),
    find: (digest) => database.get<SessionRow>(FIND, { digest }),
  };
}

type Once = Parameters<SessionStore['takeOnce']>[0];

const sessionWrites = {
  insert: (session: Tx, row: SessionRow) => change(session, INSERT, row),
  touch: (session: Tx, digest: Buffer, usedAt: number) =>
    change(session, TOUCH, { digest, usedAt }),
  signInAgain: (session: Tx, digest: Buffer, next: Pick<SessionRow, 'sealed' | 'signedInAt'>) =>
    change(session, SIGN_IN_AGAIN, { digest, ...next }),
  end: (session: Tx, digest: Buffer) => change(session, END, { digest }),
  putOnce: (session: Tx, row: OnceRow) => change(session, PUT_ONCE, row),
  takeOnce: async (session: Tx, which: Once) =>
    (await session.get<{ sealed: Buffer }>(TAKE_ONCE, which))?.sealed,
  purge: async (session: Tx, over: { now: number; unusedSince: number }) => {
    await change(session, PURGE_ONCE, over);
    return session.run(PURGE, over);
  },
};

async function change(session: Tx, sql: string, values: Values): Promise<void> {
  await session.run(sql, values);
}
