/**
 * Sessions of people at the portal. They live in the store, so that every instance knows them and an
 * ended one is over everywhere at once. The browser has a random id, the store only its digest. Every
 * function that asks the store throws `store-unavailable`.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Clock, HOUR, MINUTE } from '#shared/clock.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Database, Statements } from '#shared/database.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { TokenPrincipal } from '../tokens.ts';

const ID_BYTES = 32;
const ONCE_ID_BYTES = 16;
/** A page is read right after the action that led to it. */
const ONCE_MS = 10 * MINUTE;
/** One write a minute tells well enough when a session was used. */
const TOUCH_EVERY_MS = MINUTE;

/** A session ends when it was not used for so long. */
export const SESSION_IDLE_MS = 30 * MINUTE;
/** And after this time in any case. */
export const SESSION_MS = 8 * HOUR;
/** The first page after so long is the occasion to ask the issuer whether the person still may. */
const SIGN_IN_FRESH_MS = HOUR;
/** While the issuer cannot be asked, what it said last lets forms through for so long. */
export const SIGN_IN_GOOD_MS = 2 * HOUR;

/** A sign-in at the issuer. Tokens are bearer secrets: never logged. */
export type SignedIn = {
  /** From the access token, by the same rules as for any caller of the API. */
  principal: TokenPrincipal;
  /** For pages: a name, else the subject. */
  name: string;
  /** For signing out at the issuer. */
  idToken?: string;
};

/** A session that is neither over nor unused for too long. */
export type Session = Omit<SessionRow, 'sealed'> & SignedIn;

/** Sessions are made and read with it. */
type SessionStorage = {
  db: Database;
  sealer: Sealer;
  clock: Clock;
};

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(storage: SessionStorage) {
  const { db, clock } = storage;
  return {
    /** Returns the id for the browser: 256 random bits as 43 characters. */
    start: (signedIn: SignedIn) => startSession(storage, signedIn),
    /** The session of an id; undefined when there is none, or it is over. */
    find: (id: string, isUse = true) => findSession(storage, id, isUse),
    /** True when it is time to ask the issuer again who it is. */
    isToBeConfirmed: ({ signedInAt }: Session) => clock.now() - signedInAt >= SIGN_IN_FRESH_MS,
    /** True when the issuer's last word is too old for a form. */
    isTooOldToAct: ({ signedInAt }: Session) => clock.now() - signedInAt >= SIGN_IN_GOOD_MS,
    end: ({ digest }: Session) => deleteSession(db, digest),
    /** It goes on with what the issuer says now, as long as it would have. */
    signInAgain: ({ digest }: Session, signedIn: SignedIn) => {
      const sealed = sealSession(storage.sealer, digest, signedIn);
      return replaceSignIn(db, digest, { sealed, signedInAt: clock.now() });
    },
    /** Returns the id by which the next page takes it, within 10 minutes. */
    putOnce: (session: Session, value: unknown) => putOnce(storage, session, value),
    /** True while the session can take it. */
    hasOnce: ({ digest: session }: Session, id: string) =>
      isOnceThere(db, { digest: sha256(id), session, now: clock.now() }),
    /** The value, for the first who asks. */
    takeOnce: (session: Session, id: string) => takeOnce(storage, session, id),
    /** Removes from the store what is over. */
    purge: () =>
      purgeSessions(db, { now: clock.now(), unusedSince: clock.now() - SESSION_IDLE_MS }),
  };
}

async function startSession(storage: SessionStorage, signedIn: SignedIn): Promise<string> {
  const { db, sealer, clock } = storage;
  const id = randomBytes(ID_BYTES).toString('base64url');
  const digest = sha256(id);
  const now = clock.now();
  await insertSession(db, {
    digest,
    signedInAt: now,
    usedAt: now,
    endsAt: now + SESSION_MS,
    sealed: sealSession(sealer, digest, signedIn),
  });
  return id;
}

async function findSession(
  storage: SessionStorage,
  id: string,
  isUse: boolean,
): Promise<Session | undefined> {
  const row = await findSessionRow(storage.db, sha256(id));
  const now = storage.clock.now();
  const session = row && now < sessionEnd(row) ? openSession(storage.sealer, row) : undefined;
  if (!session || !isUse || now - session.usedAt < TOUCH_EVERY_MS) return session;
  try {
    await touchSession(storage.db, session.digest, now);
    return { ...session, usedAt: now };
  } catch (error) {
    // A store that takes no writes can be read still, and the session ends the earlier for it.
    if (!isTrackportError(error, 'store-unavailable')) throw error;
  }
  return session;
}

async function putOnce(
  { db, sealer, clock }: SessionStorage,
  { digest: session }: Session,
  value: unknown,
): Promise<string> {
  const id = randomBytes(ONCE_ID_BYTES).toString('base64url');
  const digest = sha256(id);
  const sealed = sealer.seal(onceIdentity(digest), Buffer.from(JSON.stringify(value)));
  await insertOnce(db, { digest, session, endsAt: clock.now() + ONCE_MS, sealed });
  return id;
}

async function takeOnce(
  { db, sealer, clock }: SessionStorage,
  { digest: session }: Session,
  id: string,
): Promise<unknown> {
  const digest = sha256(id);
  const sealed = await deleteOnce(db, { digest, session, now: clock.now() });
  return sealed && openOnce(sealer, digest, sealed);
}

/** Undefined for what another `secretKey` sealed: whoever put it cannot see it any more. */
function openOnce(sealer: Sealer, digest: Buffer, sealed: Buffer): unknown {
  try {
    return JSON.parse(sealer.open(onceIdentity(digest), sealed).toString());
  } catch {
    return undefined;
  }
}

function onceIdentity(digest: Buffer): string {
  return `once/${digest.toString('hex')}`;
}

const sealedSession = z.object({
  principal: z.object({
    subject: z.string(),
    clientId: z.string().optional(),
    scopes: z.array(z.string()),
    workspaceId: z.string(),
  }),
  name: z.string(),
  idToken: z.string().optional(),
});

function sealSession(
  sealer: Sealer,
  digest: Buffer,
  { principal, name, idToken }: SignedIn,
): Buffer {
  return sealer.seal(identityOf(digest), Buffer.from(JSON.stringify({ principal, name, idToken })));
}

/** Undefined for what another `secretKey` sealed: such a session is as good as over. */
function openSession(sealer: Sealer, row: SessionRow): Session | undefined {
  const { sealed, ...rest } = row;
  try {
    const text = sealer.open(identityOf(row.digest), sealed).toString();
    return { ...rest, ...(sealedSession.parse(JSON.parse(text)) as SignedIn) };
  } catch {
    return undefined;
  }
}

/** Instant at which it ends unless it is used once more. */
export function sessionEnd({ usedAt, endsAt }: { usedAt: number; endsAt: number }): number {
  return Math.min(usedAt + SESSION_IDLE_MS, endsAt);
}

function identityOf(digest: Buffer): string {
  return `session/${digest.toString('hex')}`;
}

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
async function isOnceThere(db: Database, which: WhichOnce): Promise<boolean> {
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
