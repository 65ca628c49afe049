/** A machine whose clock is half an hour off: no deletion ends without effect, and none takes a stranger. */
import { describe, expect, test } from 'vitest';
import { type Clock, HOUR, MINUTE, SECOND, systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import {
  type DeletionOptions,
  type DeletionWorld,
  openDeletions,
} from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';
import { isKnown } from '../../../support/directory.ts';

const LAG_MS = 5 * SECOND;
const ADA = { email: 'ada@example.com' };

/** The tracker's clock and ours, which is `offMs` ahead. Time creeps until it is moved. */
function createClocks(offMs: number) {
  let passedMs = 0;
  let ownOffMs = offMs;
  const start = Date.parse('2026-03-01T12:00:00Z');
  const sleep: Clock['sleep'] = (ms, options) => {
    passedMs += 1;
    return systemClock.sleep(ms <= 400 ? ms : 10, options);
  };
  const clockOf = (offMs: () => number): Clock => ({
    now: () => start + passedMs + offMs(),
    monotonicMs: () => passedMs,
    sleep,
  });
  return {
    ours: clockOf(() => ownOffMs),
    trackers: clockOf(() => 0),
    move: (ms: number) => {
      passedMs += ms;
    },
    setRight: () => {
      ownOffMs = 0;
    },
  };
}

async function openWorld(offMs: number, options: DeletionOptions = {}) {
  const { ours, trackers, move, setRight } = createClocks(offMs);
  const world = await openDeletions({
    ...options,
    clock: ours,
    tracker: { clock: trackers, ...options.tracker },
  });
  const first = world.tracker.createIssue(leadIssue()).number;
  move(LAG_MS);
  await world.start();
  return { world, first, move, setRight };
}

const stateOf = (world: DeletionWorld, number: number) => world.tracker.readIssue(number)?.state;
const isClaimed = async (world: DeletionWorld, number: number) =>
  (await world.claims.current()).has(number);
const eventOf = async (world: DeletionWorld, id: string) => (await world.read(id)).events[0];

/** The tracker goes away; a lead that was made just before is named by its number. */
async function deleteNewLead(world: DeletionWorld) {
  const { number } = world.tracker.createIssue(leadIssue());
  world.tracker.fault({ kind: 'status', status: 500, count: 10_000 });
  const id = await world.send({ leadId: number });
  await eventually(async () => expect(await isClaimed(world, number)).toBe(true));
  return { number, id };
}

describe.each([
  ['behind', -30 * MINUTE],
  ['ahead', 30 * MINUTE],
])('with our clock half an hour %s', (_name, offMs) => {
  test('the number of a lead of the last seconds is taken, though the tracker was away', async () => {
    const { world, move } = await openWorld(offMs);
    const { number, id } = await deleteNewLead(world);
    move(10 * MINUTE);
    world.tracker.clearFaults();
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expect(stateOf(world, number)).toBe('closed');
  });

  test('it is taken as well when somebody sets the clock right meanwhile', async () => {
    const { world, move, setRight } = await openWorld(offMs);
    const { number, id } = await deleteNewLead(world);
    move(10 * MINUTE);
    setRight();
    world.tracker.clearFaults();
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expect(stateOf(world, number)).toBe('closed');
  });

  test('a number that nobody has yet takes no issue that gets it two minutes later', async () => {
    const { world, first, move } = await openWorld(offMs, {
      worker: { timing: { unmatchedWaitsMs: [HOUR, HOUR] } },
    });
    const id = await world.send({ leadId: first + 1 });
    await eventually(async () => expect(await eventOf(world, id)).toMatchObject({ attempts: 1 }));
    move(2 * MINUTE);
    expect(world.tracker.createIssue(leadIssue()).number).toBe(first + 1);
    move(HOUR);
    await eventually(async () => expect(await eventOf(world, id)).toMatchObject({ attempts: 2 }));
    expect(await isClaimed(world, first + 1)).toBe(false);
  });

  test("a person's lead that the tracker shows late is found", async () => {
    const { world, first, move } = await openWorld(offMs, { tracker: { replicaLagMs: LAG_MS } });
    const late = world.tracker.createIssue(leadIssue()).number;
    const id = await world.send(ADA);
    expect((await world.settled(id)).events[0]?.leadIds).toEqual([String(first)]);
    move(LAG_MS);
    await world.filler.catchUp();
    await eventually(() => expect(stateOf(world, late)).toBe('closed'));
    expect((await world.settled(id)).events[0]?.leadIds).toEqual([String(first), String(late)]);
  });

  test('who comes back two seconds after the deletion is left alone', async () => {
    const { world, move } = await openWorld(offMs);
    const id = await world.send(ADA);
    await world.settled(id);
    move(2 * SECOND);
    const back = world.tracker.createIssue(leadIssue()).number;
    await world.filler.catchUp();
    expect(await isKnown(world.directory, back)).toBe(true);
    expect(await isClaimed(world, back)).toBe(false);
  });
});
