import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  deleteOnce,
  deleteSession,
  findSessionRow,
  insertOnce,
  insertSession,
  purgeSessions,
  replaceSignIn,
  type SessionRow,
  touchSession,
} from '#access/sessions/sessions.ts';
import { MINUTE } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';

/** Two on the same data, as two instances have them. Released when the test ends. */
type Open = () => Promise<[Database, Database]>;

const row = (given: Partial<SessionRow> = {}): SessionRow => ({
  digest: randomBytes(32),
  signedInAt: 1000,
  usedAt: 1000,
  endsAt: 100_000,
  sealed: Buffer.from('sealed'),
  ...given,
});

/** One body for every engine: what stored sessions promise. */
export function describeSessions(engine: string, open: Open): void {
  describe(`sessions on ${engine}`, () => {
    test('a session is known to every instance, and ended for all at once', async () => {
      const [one, other] = await open();
      const least = row();
      const full = row({ endsAt: 200_000 });
      for (const session of [least, full]) await insertSession(one, session);
      expect(await findSessionRow(other, least.digest)).toEqual(least);
      expect(await findSessionRow(other, full.digest)).toEqual(full);
      await deleteSession(one, full.digest);
      await deleteSession(one, full.digest);
      expect(await findSessionRow(other, full.digest)).toBeUndefined();
      expect(await findSessionRow(other, least.digest)).toEqual(least);
      expect(await findSessionRow(one, randomBytes(32))).toBeUndefined();
    });

    test('its last use moves forward only, and nothing else with it', async () => {
      const [one, other] = await open();
      const session = row();
      await insertSession(one, session);
      await touchSession(one, session.digest, 3000);
      await touchSession(other, session.digest, 2000);
      expect(await findSessionRow(one, session.digest)).toEqual({ ...session, usedAt: 3000 });
    });

    test('what the issuer says anew is known to every instance, and prolongs nothing', async () => {
      const [one, other] = await open();
      const session = row();
      await insertSession(one, session);
      const next = { sealed: Buffer.from('anew'), signedInAt: 2000 };
      await replaceSignIn(other, session.digest, next);
      expect(await findSessionRow(one, session.digest)).toEqual({ ...session, ...next });
    });

    test('what is shown once is taken once, by its own session, in time', async () => {
      const [one, other] = await open();
      const [session, stranger] = [row(), row()];
      for (const each of [session, stranger]) await insertSession(one, each);
      const once = {
        digest: randomBytes(32),
        session: session.digest,
        endsAt: 5000,
        sealed: Buffer.from('a key'),
      };
      await insertOnce(one, once);
      const take = (db: Database, by: SessionRow, now: number) =>
        deleteOnce(db, { digest: once.digest, session: by.digest, now });
      expect(await take(other, stranger, 4999)).toBeUndefined();
      expect(await take(other, session, 5000)).toBeUndefined();
      const taken = await Promise.all([take(one, session, 4999), take(other, session, 4999)]);
      expect(taken.filter(Boolean)).toEqual([Buffer.from('a key')]);
      expect(await take(one, session, 4999)).toBeUndefined();
    });

    test('what is shown once goes with its session', async () => {
      const [one] = await open();
      const session = row();
      const once = { digest: randomBytes(32), session: session.digest, endsAt: 5000 };
      await insertSession(one, session);
      await insertOnce(one, { ...once, sealed: Buffer.from('a key') });
      await deleteSession(one, session.digest);
      await insertOnce(one, { ...once, digest: randomBytes(32), sealed: Buffer.from('too late') });
      await insertSession(one, session);
      expect(await deleteOnce(one, { ...once, now: 1 })).toBeUndefined();
    });

    test('a purge removes what is over and nothing else', async () => {
      const [one] = await open();
      const now = 60 * MINUTE;
      const good = row({ usedAt: 31 * MINUTE, endsAt: now + 1 });
      const unused = row({ usedAt: 30 * MINUTE, endsAt: now + 1 });
      const over = row({ usedAt: 59 * MINUTE, endsAt: now });
      for (const each of [good, unused, over]) await insertSession(one, each);
      const once = { digest: randomBytes(32), session: good.digest, sealed: Buffer.from('x') };
      await insertOnce(one, { ...once, endsAt: now });
      expect(await purgeSessions(one, { now, unusedSince: 30 * MINUTE })).toBe(2);
      expect(await findSessionRow(one, good.digest)).toEqual(good);
      expect(await deleteOnce(one, { ...once, now: now - 1 })).toBeUndefined();
    });
  });
}
