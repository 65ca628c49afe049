import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SessionRow, SessionStore } from '#access/sessions/session-store.ts';
import { MINUTE } from '#shared/clock.ts';

/** Two stores on the same database, as two instances have them. Released when the test ends. */
type Open = () => Promise<[SessionStore, SessionStore]>;

const row = (given: Partial<SessionRow> = {}): SessionRow => ({
  digest: randomBytes(32),
  signedInAt: 1000,
  usedAt: 1000,
  endsAt: 100_000,
  sealed: Buffer.from('sealed'),
  ...given,
});

/** One body for every engine: what `SessionStore` promises. */
export function describeSessionStore(engine: string, open: Open): void {
  describe(`session store on ${engine}`, () => {
    test('a session is known to every instance, and ended for all at once', async () => {
      const [one, other] = await open();
      const least = row();
      const full = row({ endsAt: 200_000 });
      for (const session of [least, full]) await one.insert(session);
      expect(await other.find(least.digest)).toEqual(least);
      expect(await other.find(full.digest)).toEqual(full);
      await one.end(full.digest);
      await one.end(full.digest);
      expect(await other.find(full.digest)).toBeUndefined();
      expect(await other.find(least.digest)).toEqual(least);
      expect(await one.find(randomBytes(32))).toBeUndefined();
    });

    test('its last use moves forward only, and nothing else with it', async () => {
      const [one, other] = await open();
      const session = row();
      await one.insert(session);
      await one.touch(session.digest, 3000);
      await other.touch(session.digest, 2000);
      expect(await one.find(session.digest)).toEqual({ ...session, usedAt: 3000 });
    });

    test('what the issuer says anew is known to every instance, and prolongs nothing', async () => {
      const [one, other] = await open();
      const session = row();
      await one.insert(session);
      const next = { sealed: Buffer.from('anew'), signedInAt: 2000 };
      await other.signInAgain(session.digest, next);
      expect(await one.find(session.digest)).toEqual({ ...session, ...next });
    });

    test('what is shown once is taken once, by its own session, in time', async () => {
      const [one, other] = await open();
      const [session, stranger] = [row(), row()];
      for (const each of [session, stranger]) await one.insert(each);
      const once = {
        digest: randomBytes(32),
        session: session.digest,
        endsAt: 5000,
        sealed: Buffer.from('a key'),
      };
      await one.putOnce(once);
      const take = (store: SessionStore, by: SessionRow, now: number) =>
        store.takeOnce({ digest: once.digest, session: by.digest, now });
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
      await one.insert(session);
      await one.putOnce({ ...once, sealed: Buffer.from('a key') });
      await one.end(session.digest);
      await one.putOnce({ ...once, digest: randomBytes(32), sealed: Buffer.from('too late') });
      await one.insert(session);
      expect(await one.takeOnce({ ...once, now: 1 })).toBeUndefined();
    });

    test('a purge removes what is over and nothing else', async () => {
      const [one] = await open();
      const now = 60 * MINUTE;
      const good = row({ usedAt: 31 * MINUTE, endsAt: now + 1 });
      const unused = row({ usedAt: 30 * MINUTE, endsAt: now + 1 });
      const over = row({ usedAt: 59 * MINUTE, endsAt: now });
      for (const each of [good, unused, over]) await one.insert(each);
      const once = { digest: randomBytes(32), session: good.digest, sealed: Buffer.from('x') };
      await one.putOnce({ ...once, endsAt: now });
      expect(await one.purge({ now, unusedSince: 30 * MINUTE })).toBe(2);
      expect(await one.find(good.digest)).toEqual(good);
      expect(await one.takeOnce({ ...once, now: now - 1 })).toBeUndefined();
    });
  });
}
