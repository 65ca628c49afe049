/** A deletion stands: leads that the tracker shows late, for want of a webhook and with replicas that lag. */
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

/**
 * Time creeps until it is moved: a millisecond for each sleep, so that five seconds are far more than a
 * test takes. Short waits are for answers and take as long as they say; long ones look again soon.
 */
function createCreepingClock(start = Date.parse('2026-03-01T12:00:00Z')) {
  let now = start;
  let monotonicMs = 0;
  const clock: Clock = {
    now: () => now,
    monotonicMs: () => monotonicMs,
    sleep: (ms, options) => {
      now += 1;
      monotonicMs += 1;
      return systemClock.sleep(ms <= 400 ? ms : 10, options);
    },
  };
  return {
    clock,
    move: (ms: number) => {
      now += ms;
      monotonicMs += Math.max(0, ms); // only the time of day can be set back
    },
  };
}

/** A worker, and a lead that the tracker shows; from here on it shows changes five seconds late. */
async function worldWithLead(options: DeletionOptions = {}) {
  const trackers = createCreepingClock();
  const ours = createCreepingClock();
  const move = (ms: number): void => {
    trackers.move(ms);
    ours.move(ms);
  };
  const { clock } = ours;
  const tracker = { clock: trackers.clock, replicaLagMs: LAG_MS, ...options.tracker };
  const world = await openDeletions({ ...options, clock, tracker });
  const first = world.tracker.createIssue(leadIssue()).number;
  move(LAG_MS);
  await world.start();
  /** The tracker shows what it did not, and the directory reads it, for whatever reason. */
  const learn = async (of: DeletionWorld = world): Promise<void> => {
    move(LAG_MS);
    await of.filler.catchUp();
  };
  return { clock, world, first, move, learn };
}

const stateOf = (world: DeletionWorld, number: number) => world.tracker.readIssue(number)?.state;
const isClaimed = async (world: DeletionWorld, number: number) =>
  (await world.claims.current()).has(number);
const eventOf = async (world: DeletionWorld, id: string) => (await world.read(id)).events[0];

async function expectBoth(world: DeletionWorld, id: string, numbers: number[]): Promise<void> {
  await eventually(async () =>
    expect(await eventOf(world, id)).toMatchObject({
      outcome: 'DONE',
      leadIds: numbers.map(String),
    }),
  );
  for (const number of numbers) expect(stateOf(world, number)).toBe('closed');
}

/** The deletion of a person of whom one lead is not shown yet. */
async function deleteWithLateLead(world: DeletionWorld) {
  const late = world.tracker.createIssue(leadIssue()).number;
  const id = await world.send(ADA);
  await world.settled(id);
  expect((await eventOf(world, id))?.leadIds).not.toContain(String(late));
  return { id, late };
}

describe('a lead created a moment before its deletion, whose webhook is lost', () => {
  test('is claimed with the commit that learns it, and acted on under the same event', async () => {
    const { world, first, learn } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    expect(await isClaimed(world, late)).toBe(false);
    expect(world.database.handle.prepare('SELECT payload FROM event').pluck().get()).toBeNull();
    await learn();
    expect(await isClaimed(world, late)).toBe(true);
    await expectBoth(world, id, [first, late]);
  });

  test('is found as the only one: UNMATCHED changes', async () => {
    const { world, learn } = await worldWithLead();
    const late = world.tracker.createIssue(leadIssue({ email: 'eve@example.com' })).number;
    const id = await world.send({ email: 'eve@example.com' });
    expect((await world.settled(id)).status).toBe('UNMATCHED');
    await learn();
    await expectBoth(world, id, [late]);
    expect((await world.read(id)).status).toBe('PROCESSED');
  });

  test('is found after a restart in between, hours later', async () => {
    const { clock, world, first, move, learn } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    await world.stop();
    move(20 * HOUR);
    const next = await openDeletions({ of: world, clock });
    await next.start();
    await learn(next);
    await expectBoth(next, id, [first, late]);
    expect(await isClaimed(next, late)).toBe(true);
  });

  test('is found by an external id, and by an id that somebody adds to the issue later', async () => {
    const { world, learn } = await worldWithLead();
    const late = world.tracker.createIssue(leadIssue({ email: 'b@example.com' })).number;
    await learn();
    const id = await world.send({ externalId: '7' });
    expect((await world.settled(id)).status).toBe('UNMATCHED');
    const { body } = leadIssue({ email: 'b@example.com', externalIds: { 'crm-one': '7' } });
    world.tracker.editIssue(late, { body });
    await learn();
    await expectBoth(world, id, [late]);
  });
});

describe('what is learnt later', () => {
  test('is left alone when it was created after the deletion: who comes back is another lead', async () => {
    const { world, first, move, learn } = await worldWithLead();
    const id = await world.send(ADA);
    await world.settled(id);
    move(2 * SECOND);
    const back = world.tracker.createIssue(leadIssue()).number;
    await learn();
    expect(await isKnown(world.directory, back)).toBe(true);
    expect(await isClaimed(world, back)).toBe(false);
    expect((await eventOf(world, id))?.leadIds).toEqual([String(first)]);
  });

  test('is left alone by a deletion that had not been matched yet, too', async () => {
    const { world, first, move } = await worldWithLead();
    await world.stop();
    const id = await world.send(ADA);
    move(2 * SECOND);
    const back = world.tracker.createIssue(leadIssue()).number;
    move(LAG_MS);
    await world.partners.start();
    expect((await world.settled(id)).events[0]?.leadIds).toEqual([String(first)]);
    expect(await isClaimed(world, back)).toBe(false);
  });

  test('is never what an operator gave back', async () => {
    const { clock, world, first, learn } = await worldWithLead();
    const second = world.tracker.createIssue(leadIssue()).number;
    await learn();
    const id = await world.send(ADA);
    await world.settled(id);
    await world.claims.release(second, {
      at: clock.now(),
      actor: { kind: 'cli', subject: 'ops' },
    });
    const before = await eventOf(world, id);
    await learn();
    expect([await isClaimed(world, first), await isClaimed(world, second)]).toEqual([true, false]);
    expect(await eventOf(world, id)).toEqual(before); // nor is the event opened for it
  });
});

describe('a late lead of an event', () => {
  test('whose other lead waits for a retry is acted on at once', async () => {
    const { world, first, learn } = await worldWithLead({ worker: { retryMs: [60 * MINUTE] } });
    const path = `/issues/${first}$`;
    world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', path });
    const late = world.tracker.createIssue(leadIssue()).number;
    const id = await world.send(ADA);
    await eventually(async () => expect((await eventOf(world, id))?.attempts).toBe(1));
    await learn();
    await expectBoth(world, id, [first, late]);
  });

  test('that is in hand is not forgotten, and nothing is done twice', async () => {
    const { world, first, learn } = await worldWithLead({ actions: ['close', 'comment'] });
    const gate = world.tracker.hold({ method: 'PATCH' });
    const late = world.tracker.createIssue(leadIssue()).number;
    const id = await world.send(ADA);
    await gate.arrived();
    await learn();
    await eventually(async () => expect(await isClaimed(world, late)).toBe(true));
    gate.open();
    await expectBoth(world, id, [first, late]);
    for (const number of [first, late])
      expect(world.tracker.readIssue(number)?.comments).toHaveLength(1);
  });

  test('keeps the event good for a delivery of the same bytes', async () => {
    const { world, first, learn } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    const gate = world.tracker.hold({ method: 'PATCH' });
    await learn();
    await gate.arrived();
    expect(await world.send(ADA)).toBe(id);
    gate.open();
    await expectBoth(world, id, [first, late]);
  });

  test('that had failed is claimed and acted on, and the event is FAILED again', async () => {
    const { world, first, learn } = await worldWithLead({ worker: { retryMs: [] } });
    const path = `/issues/${first}$`;
    world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', path, count: 1000 });
    const { id, late } = await deleteWithLateLead(world);
    expect(await eventOf(world, id)).toMatchObject({ outcome: 'FAILED' });
    await learn();
    await eventually(() => expect(stateOf(world, late)).toBe('closed'));
    await eventually(async () =>
      expect(await eventOf(world, id)).toMatchObject({
        outcome: 'FAILED',
        lastError: 'tracker-server',
        leadIds: [String(first), String(late)],
      }),
    );
  });

  test('takes nothing from what was erased before', async () => {
    const { world, first, learn } = await worldWithLead({ actions: ['close', 'redact'] });
    const { id, late } = await deleteWithLateLead(world);
    world.tracker.calls.clear();
    await learn();
    await expectBoth(world, id, [first, late]);
    expect((await eventOf(world, id))?.erasure).toBe('incomplete-history');
    expect(world.tracker.calls.count({ path: new RegExp(`/issues/${first}$`) })).toBe(0);
  });

  test('adds to what remains of what was erased before', async () => {
    const { world, first, move, learn } = await worldWithLead({ actions: ['close', 'redact'] });
    world.tracker.addComment(first, 'Called, no answer.');
    move(LAG_MS);
    const { id, late } = await deleteWithLateLead(world);
    const remains = (await eventOf(world, id))?.remains;
    expect(remains).toEqual(['history', 'comments']);
    await learn();
    await expectBoth(world, id, [first, late]);
    expect((await eventOf(world, id))?.remains).toEqual(remains);
  });
});
