/** A credential that the tracker refuses: asked again once a minute, whatever waits, and at once after a reload. */
import { expect, test } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import { type Clock, HOUR, MINUTE, systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../support/deletions/world.ts';
import { eventually } from '../../support/eventually.ts';

const stateOf = async (world: DeletionWorld) => {
  const { state, reason } = await world.partners.workerStatus();
  return { state, reason };
};

/** The system's, until `hurry` is called: from then on every wait is over at once, and time goes on by it. */
function createHurriedClock() {
  let isHurried = false;
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    sleep: async (ms, options) => {
      if (!isHurried || ms <= 0) return systemClock.sleep(ms, options);
      aheadMs += ms;
      await setImmediate();
      return undefined;
    },
  };
  const hurry = (is: boolean): void => {
    isHurried = is;
  };
  return { clock, hurry };
}

/** Paused since its credential was refused. */
async function lockedOutWorld(probeEveryMs: number) {
  const { clock, hurry } = createHurriedClock();
  const world = await openDeletions({ clock, worker: { timing: { probeEveryMs } } });
  await world.start();
  const [known = 0, other = 0] = [1, 2].map(() => world.tracker.createIssue(leadIssue()).number);
  await world.filler.catchUp();
  world.tracker.fault({ kind: 'status', status: 401, count: 100_000 });
  const first = await world.send({ leadId: known });
  await eventually(async () =>
    expect(await stateOf(world)).toEqual({ state: 'paused', reason: 'unauthorized' }),
  );
  return { world, hurry, first, other };
}

test('the tracker is asked once a minute, however many deletions wait, and what they name is claimed', async () => {
  const { world, hurry, other } = await lockedOutWorld(MINUTE);
  const { entries } = world.tracker.calls;
  const [before, since] = [entries.length, world.clock.monotonicMs()];
  const UNKNOWN = 7000; // numbers that the directory does not know
  const numbers = [other, UNKNOWN, UNKNOWN + 1, UNKNOWN + 2];
  for (const leadId of numbers) await world.send({ leadId });
  await world.send({ email: 'somebody@example.com' });
  hurry(true);
  const elapsedMs = () => world.clock.monotonicMs() - since;
  await eventually(() => {
    expect(elapsedMs()).toBeGreaterThan(10 * MINUTE);
    expect(entries.length).toBeGreaterThan(before);
  });
  hurry(false);
  const asked = entries.length - before;
  expect(asked).toBeLessThanOrEqual(elapsedMs() / MINUTE + 1);
  const claims = await world.claims.current();
  expect(numbers.filter((number) => !claims.has(number))).toEqual([]);
});

test('a reload has the tracker asked at once, and all goes on', async () => {
  const { world, first, other } = await lockedOutWorld(HOUR);
  const second = await world.send({ leadId: other });
  const { entries } = world.tracker.calls;
  const before = entries.length;
  world.partners.onReload(); // with a credential that is no better
  await eventually(() => expect(entries).toHaveLength(before + 1));
  expect(await stateOf(world)).toMatchObject({ state: 'paused' });
  world.tracker.clearFaults();
  world.partners.onReload();
  for (const id of [first, second]) expect((await world.settled(id)).status).toBe('PROCESSED');
  expect(await stateOf(world)).toEqual({ state: 'running', reason: undefined });
});

test('a reload during a probe has the tracker asked again at once', async () => {
  const { world, first } = await lockedOutWorld(HOUR);
  const gate = world.tracker.hold({ path: '^/repos/[^/]+/[^/]+$' });
  world.partners.onReload();
  await gate.arrived();
  world.tracker.clearFaults();
  world.partners.onReload();
  gate.open();
  expect((await world.settled(first)).status).toBe('PROCESSED');
});
