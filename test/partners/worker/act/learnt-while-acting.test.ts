/** A deletion stands while its leads are changed, too. */
import { expect, test } from 'vitest';
import { type Clock, HOUR, systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import { openDeletions } from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';

test.each([1, 2, 3])(
  'a lead that is learnt at the turn to write number %i is claimed and changed, and none twice',
  async (place) => {
    const writeIntervalMs = 2 * HOUR;
    let turns = 0;
    let learn = async (): Promise<void> => undefined;
    const clock: Clock = {
      ...systemClock,
      sleep: async (ms, options) => {
        const isTurn = ms > HOUR && ms <= writeIntervalMs;
        if (!isTurn) return systemClock.sleep(ms, options);
        turns += 1;
        if (turns === place) await learn();
      },
    };
    const world = await openDeletions({
      clock,
      worker: { writeIntervalMs },
      actions: ['relabel', 'close', 'comment'],
    });
    await world.start();
    const first = world.tracker.createIssue(leadIssue()).number;
    const late = world.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    await world.filler.catchUp();
    learn = async () => {
      world.tracker.editIssue(late, { body: leadIssue().body });
      await world.filler.catchUp();
      expect((await world.claims.current()).has(late)).toBe(true);
    };
    const id = await world.send({ email: 'ada@example.com' });
    const expected = { outcome: 'DONE', leadIds: [String(first), String(late)] };
    await eventually(async () => expect((await world.read(id)).events[0]).toMatchObject(expected));
    const writes = world.tracker.calls.entries
      .filter(({ method, path }) => method !== 'GET' && path.includes('/issues/'))
      .map(({ method, path }) => `${method} ${/\d+/.exec(path.split('/issues/')[1] ?? '')?.[0]}`);
    expect(writes).toHaveLength(4);
    expect(new Set(writes).size).toBe(4);
  },
);
