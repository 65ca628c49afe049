import { describe, expect, test } from 'vitest';
import {
  createSessions,
  type Session,
  SESSION_IDLE_MS,
  SESSION_MS,
  type Sessions,
  type SignedIn,
} from '#access/sessions/sessions.ts';
import { MINUTE } from '#shared/clock.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import type { Database } from '#shared/database.ts';
import { createFakeClock } from '../support/clock.ts';
import { keyOf } from '../support/keys.ts';

/** Two on the same data, as two instances have them. Released when the test ends. */
type Open = () => Promise<[Database, Database]>;

const ada: SignedIn = {
  principal: { subject: 'ada', scopes: ['catalog:read'], workspaceId: 'one' },
  name: 'Ada',
};

const sealer = createSealer(keyOf(1));

const startIn = async (sessions: Sessions): Promise<{ id: string; session: Session }> => {
  const id = await sessions.start(ada);
  return { id, session: (await sessions.find(id, false)) as Session };
};

/** One body for every engine: what stored sessions promise. */
export function describeSessions(engine: string, open: Open): void {
  describe(`sessions on ${engine}`, () => {
    const openTwo = async () => {
      const [db, otherDb] = await open();
      const clock = createFakeClock();
      const one = createSessions({ db, sealer, clock });
      return { db, otherDb, clock, one, other: createSessions({ db: otherDb, sealer, clock }) };
    };

    test('a session is known to every instance, and ended for all at once', async () => {
      const { one, other, clock } = await openTwo();
      const [first, second] = [await startIn(one), await startIn(one)];
      const times = { signedInAt: clock.now(), usedAt: clock.now() };
      const expected = { ...ada, ...times, endsAt: clock.now() + SESSION_MS };
      expect(await other.find(first.id)).toEqual({ ...first.session, ...expected });
      await one.end(second.session);
      await one.end(second.session);
      expect(await other.find(second.id)).toBeUndefined();
      expect(await other.find(first.id)).toEqual(first.session);
      expect(await one.find('unknown')).toBeUndefined();
    });

    test('its last use moves forward only, and nothing else with it', async () => {
      const { one, otherDb, clock } = await openTwo();
      const { id, session } = await startIn(one);
      const [hasRead, mayWrite] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const db: Pick<Database, 'get' | 'run'> = {
        get: (sql, values) => otherDb.get(sql, values),
        run: async (sql, values) => {
          hasRead.resolve();
          await mayWrite.promise;
          return otherDb.run(sql, values);
        },
      };
      const late = createSessions({ db: db as Database, sealer, clock });
      await clock.advance(2 * MINUTE);
      const lateUse = late.find(id);
      await hasRead.promise;
      await clock.advance(MINUTE);
      await one.find(id);
      mayWrite.resolve();
      await lateUse;
      expect(await one.find(id, false)).toEqual({ ...session, usedAt: clock.now() });
    });

    test('what the issuer says anew is known to every instance, and prolongs nothing', async () => {
      const { one, other, clock } = await openTwo();
      const { id, session } = await startIn(one);
      await clock.advance(1);
      await other.signInAgain(session, { ...ada, name: 'Ada L.' });
      const next = { name: 'Ada L.', signedInAt: clock.now() };
      expect(await one.find(id)).toEqual({ ...session, ...next });
    });

    test('what is shown once is taken once, by its own session, in time', async () => {
      const { one, other, clock } = await openTwo();
      const [{ session }, { session: stranger }] = [await startIn(one), await startIn(one)];
      const id = await one.putOnce(session, 'a key');
      expect(await other.takeOnce(stranger, id)).toBeUndefined();
      await clock.advance(10 * MINUTE);
      expect([await other.hasOnce(session, id), await other.takeOnce(session, id)]).toEqual([
        false,
        undefined,
      ]);
      clock.set(clock.now() - 1);
      expect(await other.hasOnce(session, id)).toBe(true);
      const taken = await Promise.all([one.takeOnce(session, id), other.takeOnce(session, id)]);
      expect(taken.filter(Boolean)).toEqual(['a key']);
      expect(await one.takeOnce(session, id)).toBeUndefined();
    });

    test('what is shown once goes with its session', async () => {
      const { db, one } = await openTwo();
      const { session } = await startIn(one);
      await one.putOnce(session, 'a key');
      await one.end(session);
      await one.putOnce(session, 'too late');
      expect(await db.all('SELECT 1 FROM session_once')).toEqual([]);
    });

    test('a purge removes what is over and nothing else', async () => {
      const { db, one, clock } = await openTwo();
      const over = await startIn(one);
      for (let used = 0; used < SESSION_MS - SESSION_IDLE_MS; used += 15 * MINUTE) {
        await clock.advance(15 * MINUTE);
        await one.find(over.id);
      }
      const [good] = [await startIn(one), await startIn(one)];
      await clock.advance(MINUTE);
      await one.find(good.id);
      await one.find(over.id);
      await clock.advance(SESSION_IDLE_MS - 11 * MINUTE);
      await one.putOnce(good.session, 'a key');
      await clock.advance(10 * MINUTE);
      expect(await one.purge()).toBe(2);
      expect(await one.find(good.id)).toBeDefined();
      expect(await db.all('SELECT 1 FROM session')).toHaveLength(1);
      expect(await db.all('SELECT 1 FROM session_once')).toEqual([]);
    });
  });
}
