import type { SessionRow } from '#access/sessions/session-store.ts';

/** A session as its table has it. */
export type StoredSession = Omit<SessionRow, 'issuerSession' | 'renewAt'> & {
  issuerSession: string | null;
  renewAt: number | null;
};

export const SESSION_COLUMNS =
  'digest, issuerSubject, issuerSession, timeZone, startedAt, usedAt, endsAt, renewAt, sealed';

export function toStoredSession(row: SessionRow): StoredSession {
  return { ...row, issuerSession: row.issuerSession ?? null, renewAt: row.renewAt ?? null };
}

export function fromStoredSession({ issuerSession, renewAt, ...row }: StoredSession): SessionRow {
  return {
    ...row,
    ...(issuerSession !== null && { issuerSession }),
    ...(renewAt !== null && { renewAt }),
  };
}
