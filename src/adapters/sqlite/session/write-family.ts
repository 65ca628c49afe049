import type {
  IssuerSessions,
  OnceRow,
  SessionRow,
  SessionStore,
} from '#access/sessions/session-store.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';
import { SESSION_COLUMNS, toStoredSession } from './rows.ts';
import type { StoredSession } from './rows.ts';

type SessionWrites = ReturnType<typeof createSessionWrites>;

export const sessionWrites: WriteFamily<undefined, SessionWrites> = {
  name: 'session',
  create: createSessionWrites,
};

function createSessionWrites(connection: Connection) {
  const sql = prepare(connection);
  return {
    insert: (row: SessionRow): void => void sql.insert.run(toStoredSession(row)),
    touch: (digest: Buffer, usedAt: number): void => void sql.touch.run({ digest, usedAt }),
    setTimeZone: (digest: Buffer, timeZone: string): void =>
      void sql.setTimeZone.run({ digest, timeZone }),
    claimRenewal: (digest: Buffer, times: { now: number; until: number }): boolean =>
      sql.claimRenewal.run({ digest, ...times }).changes === 1,
    renew: (digest: Buffer, { sealed, renewAt }: Pick<SessionRow, 'sealed' | 'renewAt'>): void =>
      void sql.renew.run({ digest, sealed, renewAt: renewAt ?? null }),
    end: (digest: Buffer): void => void sql.end.run(digest),
    endOfIssuer: (
      { startedUntil, ...which }: IssuerSessions,
      token: { digest: Buffer; endsAt: number },
    ): number | undefined => {
      if (sql.rememberLogout.run(token).changes === 0) return undefined;
      const { issuerSubject = null, issuerSession = null } = which;
      return sql.endOfIssuer.run({ issuerSubject, issuerSession, startedUntil }).changes;
    },
    // The session may have ended meanwhile: then nobody will see it.
    putOnce: (row: OnceRow): void => void sql.putOnce.run(row),
    takeOnce: (which: Parameters<SessionStore['takeOnce']>[0]): Buffer | undefined =>
      sql.takeOnce.get(which)?.sealed,
    purge: (over: { now: number; unusedSince: number }): number => {
      sql.purgeOnce.run(over.now);
      sql.purgeLogouts.run(over.now);
      return sql.purge.run(over).changes;
    },
  };
}

type Digest = { digest: Buffer };

function prepare({ handle }: Connection) {
  return {
    insert: handle.prepare<[StoredSession]>(`
      INSERT INTO session (${SESSION_COLUMNS})
      VALUES (@digest, @issuerSubject, @issuerSession, @timeZone, @startedAt, @usedAt, @endsAt,
        @renewAt, @sealed)`),
    touch: handle.prepare<[Digest & { usedAt: number }]>(
      'UPDATE session SET usedAt = @usedAt WHERE digest = @digest AND usedAt < @usedAt',
    ),
    setTimeZone: handle.prepare<[Digest & { timeZone: string }]>(
      'UPDATE session SET timeZone = @timeZone WHERE digest = @digest',
    ),
    claimRenewal: handle.prepare<[Digest & { now: number; until: number }]>(`
      UPDATE session SET renewingUntil = @until
      WHERE digest = @digest AND renewAt <= @now
        AND (renewingUntil IS NULL OR renewingUntil <= @now)`),
    renew: handle.prepare<[Digest & { sealed: Buffer; renewAt: number | null }]>(`
      UPDATE session SET sealed = @sealed, renewAt = @renewAt, renewingUntil = NULL
      WHERE digest = @digest`),
    end: handle.prepare<[Buffer]>('DELETE FROM session WHERE digest = ?'),
    endOfIssuer: handle.prepare<[Record<string, string | number | null>]>(`
      DELETE FROM session
      WHERE (@issuerSubject IS NOT NULL OR @issuerSession IS NOT NULL)
        AND (@issuerSubject IS NULL OR issuerSubject = @issuerSubject)
        AND (@issuerSession IS NULL OR issuerSession = @issuerSession)
        AND startedAt <= @startedUntil`),
    putOnce: handle.prepare<[OnceRow]>(`
      INSERT INTO session_once (digest, session, endsAt, sealed)
      SELECT @digest, @session, @endsAt, @sealed
      WHERE EXISTS (SELECT 1 FROM session WHERE digest = @session)`),
    takeOnce: handle.prepare<[Digest & { session: Buffer; now: number }], { sealed: Buffer }>(`
      DELETE FROM session_once
      WHERE digest = @digest AND session = @session AND endsAt > @now RETURNING sealed`),
    rememberLogout: handle.prepare<[Digest & { endsAt: number }]>(`
      INSERT INTO logout_token (digest, endsAt) VALUES (@digest, @endsAt)
      ON CONFLICT (digest) DO NOTHING`),
    purge: handle.prepare<[{ now: number; unusedSince: number }]>(
      'DELETE FROM session WHERE endsAt <= @now OR usedAt <= @unusedSince',
    ),
    purgeOnce: handle.prepare<[number]>('DELETE FROM session_once WHERE endsAt <= ?'),
    purgeLogouts: handle.prepare<[number]>('DELETE FROM logout_token WHERE endsAt <= ?'),
  };
}
