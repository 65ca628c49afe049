/**
 * Statements of sessions of people at the portal, the same for all instances. Every function throws
 * `store-unavailable`.
 */
import type { Database, Statements } from '#shared/database.ts';

/** A session as the store has it. Times are milliseconds since the Unix epoch. */
export type SessionRow = {
  /** SHA-256 of the id that the browser's cookie holds: nobody can become someone by reading it. */
  digest: Buffer;
  /** Time of the issuer's last word about who it is. */
  signedInAt: number;
  /** Of the last use; up to a minute behind. */
  usedAt: number;
  /** It ends then, however much it is used. */
  endsAt: number;
  /** `SignedIn`, encrypted. */
  sealed: Buffer;
};

/** A value that the next page shows, once. */
type OnceRow = {
  /** SHA-256 of the id that the page's address holds. */
  digest: Buffer;
  /** The session that may see it, and which it goes with. */
  session: Buffer;
  endsAt: number;
  sealed: Buffer;
};

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

const HAS_ONCE = `
  SELECT 1 FROM session_once
  WHERE digest = @digest AND session = @session AND ends_at > @now`;

const PURGE = 'DELETE FROM session WHERE ends_at <= @now OR used_at <= @unusedSince';
const PURGE_ONCE = 'DELETE FROM session_once WHERE ends_at <= @now';

export async function insertSession(db: Statements, row: SessionRow): Promise<void> {
  await db.run(INSERT, row);
}

export function findSessionRow(db: Statements, digest: Buffer): Promise<SessionRow | undefined> {
  return db.get<SessionRow>(FIND, { digest });
}

/** Moves `usedAt` forward, never back. */
export async function touchSession(db: Statements, digest: Buffer, usedAt: number): Promise<void> {
  await db.run(TOUCH, { digest, usedAt });
}

/** Replaces what the issuer said, and when. */
export async function replaceSignIn(
  db: Statements,
  digest: Buffer,
  next: { sealed: Buffer; signedInAt: number },
): Promise<void> {
  await db.run(SIGN_IN_AGAIN, { digest, ...next });
}

/** The session is over, with all that it was to be shown. Idempotent. */
export async function deleteSession(db: Statements, digest: Buffer): Promise<void> {
  await db.run(END, { digest });
}

export async function insertOnce(db: Statements, row: OnceRow): Promise<void> {
  await db.run(PUT_ONCE, row);
}

/** A value that a session is shown once, as it asks for it. */
type WhichOnce = { digest: Buffer; session: Buffer; now: number };

/** True while nobody has taken it. */
export async function isOnceThere(db: Database, which: WhichOnce): Promise<boolean> {
  return (await db.get(HAS_ONCE, which)) !== undefined;
}

/** Returns what was put, for the first who asks within its time and session. */
export async function deleteOnce(db: Database, which: WhichOnce): Promise<Buffer | undefined> {
  const row = await db.transaction((tx) => tx.get<{ sealed: Buffer }>(TAKE_ONCE, which));
  return row?.sealed;
}

/** Removes what is over: sessions, what nobody looked at. Returns how many sessions. */
export function purgeSessions(
  db: Database,
  over: { now: number; unusedSince: number },
): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.run(PURGE_ONCE, over);
    return tx.run(PURGE, over);
  });
}
