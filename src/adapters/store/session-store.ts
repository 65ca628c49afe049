import type {
  IssuerSessions,
  OnceRow,
  SessionRow,
  SessionStore,
} from '#access/sessions/session-store.ts';
import { bindWrites, type Session, type StoreDatabase, type Values } from './session.ts';

const COLUMNS =
  'digest, issuer_subject, issuer_session, time_zone, started_at, used_at, ends_at, renew_at, sealed';

const INSERT = `
  INSERT INTO session (${COLUMNS})
  VALUES (@digest, @issuerSubject, @issuerSession, @timeZone, @startedAt, @usedAt, @endsAt,
    @renewAt, @sealed)`;

const FIND = `SELECT ${COLUMNS} FROM session WHERE digest = @digest`;

const TOUCH = 'UPDATE session SET used_at = @usedAt WHERE digest = @digest AND used_at < @usedAt';

const SET_TIME_ZONE = 'UPDATE session SET time_zone = @timeZone WHERE digest = @digest';

const CLAIM_RENEWAL = `
  UPDATE session SET renewing_until = @until
  WHERE digest = @digest AND renew_at <= @now AND (renewing_until IS NULL OR renewing_until <= @now)`;

const RENEW = `
  UPDATE session SET sealed = @sealed, renew_at = @renewAt, renewing_until = NULL
  WHERE digest = @digest`;

const END = 'DELETE FROM session WHERE digest = @digest';

const REMEMBER_LOGOUT = `
  INSERT INTO logout_token (digest, ends_at) VALUES (@digest, @endsAt)
  ON CONFLICT (digest) DO NOTHING`;

const END_OF_ISSUER = `
  DELETE FROM session
  WHERE (@issuerSubject::text IS NOT NULL OR @issuerSession::text IS NOT NULL)
    AND (@issuerSubject::text IS NULL OR issuer_subject = @issuerSubject)
    AND (@issuerSession::text IS NULL OR issuer_session = @issuerSession)
    AND started_at <= @startedUntil`;

/** The session may have ended meanwhile: then nobody will see it. */
const PUT_ONCE = `
  INSERT INTO session_once (digest, session, ends_at, sealed)
  SELECT @digest, digest, @endsAt, @sealed FROM session WHERE digest = @session FOR KEY SHARE`;

const TAKE_ONCE = `
  DELETE FROM session_once
  WHERE digest = @digest AND session = @session AND ends_at > @now RETURNING sealed`;

const PURGE = 'DELETE FROM session WHERE ends_at <= @now OR used_at <= @unusedSince';
const PURGE_ONCE = 'DELETE FROM session_once WHERE ends_at <= @now';
const PURGE_LOGOUTS = 'DELETE FROM logout_token WHERE ends_at <= @now';

/** Sessions, whatever the engine. */
export function createSessionStore(database: StoreDatabase): SessionStore {
  return {
    ...bindWrites(database.writer.call, 'session', sessionWrites),
    find: (digest) => database.get<SessionRow>(FIND, { digest }),
  };
}

type Once = Parameters<SessionStore['takeOnce']>[0];

export const sessionWrites = {
  insert: (session: Session, { issuerSession, renewAt, ...row }: SessionRow) =>
    change(session, INSERT, { ...row, issuerSession, renewAt }),
  touch: (session: Session, digest: Buffer, usedAt: number) =>
    change(session, TOUCH, { digest, usedAt }),
  setTimeZone: (session: Session, digest: Buffer, timeZone: string) =>
    change(session, SET_TIME_ZONE, { digest, timeZone }),
  leaseRenewal: async (session: Session, digest: Buffer, times: { now: number; until: number }) =>
    (await session.run(CLAIM_RENEWAL, { digest, ...times })) === 1,
  renew: (
    session: Session,
    digest: Buffer,
    { sealed, renewAt }: Pick<SessionRow, 'sealed' | 'renewAt'>,
  ) => change(session, RENEW, { digest, sealed, renewAt }),
  end: (session: Session, digest: Buffer) => change(session, END, { digest }),
  endOfIssuer: async (
    session: Session,
    { issuerSubject, issuerSession, startedUntil }: IssuerSessions,
    token: { digest: Buffer; endsAt: number },
  ) => {
    if ((await session.run(REMEMBER_LOGOUT, token)) === 0) return undefined;
    return session.run(END_OF_ISSUER, { issuerSubject, issuerSession, startedUntil });
  },
  putOnce: (session: Session, row: OnceRow) => change(session, PUT_ONCE, row),
  takeOnce: async (session: Session, which: Once) =>
    (await session.get<{ sealed: Buffer }>(TAKE_ONCE, which))?.sealed,
  purge: async (session: Session, over: { now: number; unusedSince: number }) => {
    await change(session, PURGE_ONCE, over);
    await change(session, PURGE_LOGOUTS, over);
    return session.run(PURGE, over);
  },
};

async function change(session: Session, sql: string, values: Values): Promise<void> {
  await session.run(sql, values);
}
