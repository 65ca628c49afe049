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
import type { Database } from '#shared/database.ts';
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

/** A session as the store has it. Times are milliseconds since the Unix epoch. */
type SessionRow = {
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

const COLUMNS = 'digest, signed_in_at, used_at, ends_at, sealed';

const INSERT = `
  INSERT INTO session (${COLUMNS})
  VALUES (@digest, @signedInAt, @usedAt, @endsAt, @sealed)`;

const FIND = `SELECT ${COLUMNS} FROM session WHERE digest = @digest`;

/** Forward, never back. */
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
    /** The session is over, with all that it was to be shown. Idempotent. */
    end: async ({ digest }: Session): Promise<void> => {
      await db.run(END, { digest });
    },
    /** It goes on with what the issuer says now, as long as it would have. */
    signInAgain: async ({ digest }: Session, signedIn: SignedIn): Promise<void> => {
      const sealed = sealSession(storage.sealer, digest, signedIn);
      await db.run(SIGN_IN_AGAIN, { digest, sealed, signedInAt: clock.now() });
    },
    /** Returns the id by which the next page takes it, within 10 minutes. */
    putOnce: (session: Session, value: unknown) => putOnce(storage, session, value),
    /** True while the session can take it. */
    hasOnce: async ({ digest: session }: Session, id: string): Promise<boolean> =>
      (await db.get(HAS_ONCE, { digest: sha256(id), session, now: clock.now() })) !== undefined,
    /** The value, for the first who asks. */
    takeOnce: (session: Session, id: string) => takeOnce(storage, session, id),
    /** Removes from the store what is over: sessions, what nobody looked at. Returns how many sessions. */
    purge: (): Promise<number> => {
      const over = { now: clock.now(), unusedSince: clock.now() - SESSION_IDLE_MS };
      return db.transaction(async (tx) => {
        await tx.run(PURGE_ONCE, over);
        return tx.run(PURGE, over);
      });
    },
  };
}

async function startSession(storage: SessionStorage, signedIn: SignedIn): Promise<string> {
  const { db, sealer, clock } = storage;
  const id = randomBytes(ID_BYTES).toString('base64url');
  const digest = sha256(id);
  const now = clock.now();
  await db.run(INSERT, {
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
  const row = await storage.db.get<SessionRow>(FIND, { digest: sha256(id) });
  const now = storage.clock.now();
  const session = row && now < sessionEnd(row) ? openSession(storage.sealer, row) : undefined;
  if (!session || !isUse || now - session.usedAt < TOUCH_EVERY_MS) return session;
  try {
    await storage.db.run(TOUCH, { digest: session.digest, usedAt: now });
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
  await db.run(PUT_ONCE, { digest, session, endsAt: clock.now() + ONCE_MS, sealed });
  return id;
}

async function takeOnce(
  { db, sealer, clock }: SessionStorage,
  { digest: session }: Session,
  id: string,
): Promise<unknown> {
  const digest = sha256(id);
  const values = { digest, session, now: clock.now() };
  const row = await db.transaction((tx) => tx.get<{ sealed: Buffer }>(TAKE_ONCE, values));
  return row && openOnce(sealer, digest, row.sealed);
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
