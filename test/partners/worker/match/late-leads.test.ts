/** Leads that the tracker shows late, for want of a webhook and with replicas that lag. */
import { describe, expect, test } from 'vitest';
import { type Clock, DAY, MINUTE, SECOND, systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import {
  type DeletionOptions,
  type DeletionWorld,
  openDeletions,
} from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';

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
  return { clock, world, first, move, moveOurs: ours.move };
}

const stateOf = (world: DeletionWorld, number: number) => world.tracker.readIssue(number)?.state;
const isClaimed = async (world: DeletionWorld, number: number) =>
  (await world.claims.current()).has(number);
const looksOf = ({ database }: DeletionWorld) =>
  database.handle.prepare<[], number>('SELECT count(*) FROM recheck').pluck().get();
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
  test('is claimed and acted on a minute later, under the same event', async () => {
    const { world, first, move } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    expect(await isClaimed(world, late)).toBe(false);
    expect(world.database.handle.prepare('SELECT payload FROM event').pluck().get()).toBeNull();
    move(MINUTE);
    await expectBoth(world, id, [first, late]);
    expect(await isClaimed(world, late)).toBe(true);
  });

  test('is found ten minutes later when the first look is too early; then nothing is kept', async () => {
    const { world, first, move } = await worldWithLead({ tracker: { replicaLagMs: 5 * MINUTE } });
    move(5 * MINUTE);
    await world.filler.catchUp();
    const { id, late } = await deleteWithLateLead(world);
    move(MINUTE);
    const dueAt = world.database.handle.prepare('SELECT due_at - matched_at FROM recheck').pluck();
    await eventually(() => expect(dueAt.get()).toBe(10 * MINUTE));
    expect(await isClaimed(world, late)).toBe(false);
    move(9 * MINUTE);
    await expectBoth(world, id, [first, late]);
    await eventually(() => expect(looksOf(world)).toBe(0));
  });

  test('is found after a restart in between', async () => {
    const { clock, world, first, move } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    await world.stop();
    move(MINUTE);
    const next = await openDeletions({ of: world, clock });
    await next.start();
    await expectBoth(next, id, [first, late]);
    expect(await isClaimed(next, late)).toBe(true);
  });

  test('is found once the tracker answers, for a failed catch-up is no look', async () => {
    const { world, first, move } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    world.tracker.calls.clear();
    world.tracker.fault({ kind: 'status', status: 500, path: '/issues$', count: 1000 });
    move(MINUTE);
    await eventually(() =>
      expect(world.tracker.calls.count({ path: /issues$/ })).toBeGreaterThan(2),
    );
    expect(await isClaimed(world, late)).toBe(false);
    world.tracker.clearFaults();
    await expectBoth(world, id, [first, late]);
  });

  test.each([
    ['while the worker runs', false],
    ['before a restart', true],
  ])('is found with our clock set back by a day %s', async (_when, restarts) => {
    const { clock, world, first, move, moveOurs } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    if (restarts) await world.stop();
    moveOurs(-DAY);
    const next = restarts ? await openDeletions({ of: world, clock }) : world;
    if (restarts) await next.start();
    const isSoon = async () =>
      ((await next.work.nextRecheckAt()) ?? 0) <= next.clock.now() + MINUTE;
    await eventually(async () => expect(await isSoon()).toBe(true));
    move(MINUTE);
    await expectBoth(next, id, [first, late]);
  });
});

describe('a look again', () => {
  test('leaves alone who came back after the deletion', async () => {
    const { world, first, move } = await worldWithLead();
    const id = await world.send(ADA);
    await world.settled(id);
    move(3 * MINUTE);
    const back = world.tracker.createIssue(leadIssue()).number;
    move(7 * MINUTE);
    await eventually(() => expect(looksOf(world)).toBe(0));
    expect(await world.directory.has(back)).toBe(true);
    expect(await isClaimed(world, back)).toBe(false);
    expect((await eventOf(world, id))?.leadIds).toEqual([String(first)]);
  });

  test('is there for an external id, and not for a lead id or a correlation id', async () => {
    const { world, move } = await worldWithLead();
    const identities = { correlationId: 'c', externalIds: { 'crm-one': '7' } };
    const { number } = world.tracker.createIssue(
      leadIssue({ email: 'b@example.com', ...identities }),
    );
    move(LAG_MS);
    for (const [names, looks] of [
      [{ leadId: number }, 0],
      [{ correlationId: 'c' }, 0],
      [{ externalId: '7' }, 1],
    ] as const) {
      await world.settled(await world.send(names));
      expect(looksOf(world)).toBe(looks);
    }
  });

  test('does nothing once an operator gave every lead of the event back', async () => {
    const { clock, world, first, move } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    await world.claims.release(first, {
      at: clock.now(),
      actor: { kind: 'cli', subject: 'ops' },
      action: 'claim.release',
      subject: `claim/${first}`,
    });
    move(MINUTE);
    await eventually(async () => expect(await world.directory.has(late)).toBe(true));
    move(10 * MINUTE);
    await eventually(() => expect(looksOf(world)).toBe(0));
    expect(await isClaimed(world, late)).toBe(false);
    expect(await eventOf(world, id)).toMatchObject({ outcome: 'DONE', note: 'claim-released' });
  });

  test('never claims again what an operator gave back', async () => {
    const { clock, world, first, move } = await worldWithLead();
    const second = world.tracker.createIssue(leadIssue()).number;
    move(LAG_MS);
    const id = await world.send(ADA);
    await world.settled(id);
    await world.claims.release(second, {
      at: clock.now(),
      actor: { kind: 'cli', subject: 'ops' },
      action: 'claim.release',
      subject: `claim/${second}`,
    });
    const before = await eventOf(world, id);
    move(10 * MINUTE);
    await eventually(() => expect(looksOf(world)).toBe(0));
    expect([await isClaimed(world, first), await isClaimed(world, second)]).toEqual([true, false]);
    expect(await eventOf(world, id)).toEqual(before); // nor is the event opened for it
  });
});

describe('a late lead of an event', () => {
  test('whose other lead waits for a retry is acted on at once', async () => {
    const { world, first, move } = await worldWithLead({ worker: { retryMs: [60 * MINUTE] } });
    const path = `/issues/${first}$`;
    world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', path });
    const late = world.tracker.createIssue(leadIssue()).number;
    const id = await world.send(ADA);
    await eventually(async () => expect((await eventOf(world, id))?.attempts).toBe(1));
    move(MINUTE);
    await expectBoth(world, id, [first, late]);
  });

  test('that is in hand is not forgotten, and nothing is done twice', async () => {
    const { world, first, move } = await worldWithLead({ actions: ['close', 'comment'] });
    const gate = world.tracker.hold({ method: 'PATCH' });
    const late = world.tracker.createIssue(leadIssue()).number;
    const id = await world.send(ADA);
    await gate.arrived();
    move(MINUTE);
    await eventually(async () => expect(await isClaimed(world, late)).toBe(true));
    gate.open();
    await expectBoth(world, id, [first, late]);
    for (const number of [first, late])
      expect(world.tracker.readIssue(number)?.comments).toHaveLength(1);
  });

  test('keeps the event good for a delivery of the same bytes', async () => {
    const { world, first, move } = await worldWithLead();
    const { id, late } = await deleteWithLateLead(world);
    const gate = world.tracker.hold({ method: 'PATCH' });
    move(MINUTE);
    await gate.arrived();
    expect(await world.send(ADA)).toBe(id);
    gate.open();
    await expectBoth(world, id, [first, late]);
  });

  test('that had failed is claimed and acted on, and the event is FAILED again', async () => {
    const { world, first, move } = await worldWithLead({ worker: { retryMs: [] } });
    const path = `/issues/${first}$`;
    world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', path, count: 1000 });
    const { id, late } = await deleteWithLateLead(world);
    expect(await eventOf(world, id)).toMatchObject({ outcome: 'FAILED' });
    move(MINUTE);
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
    const { world, first, move } = await worldWithLead({ actions: ['close', 'redact'] });
    const { id, late } = await deleteWithLateLead(world);
    world.tracker.calls.clear();
    move(MINUTE);
    await expectBoth(world, id, [first, late]);
    expect((await eventOf(world, id))?.erasure).toBe('incomplete-history');
    expect(world.tracker.calls.count({ path: new RegExp(`/issues/${first}$`) })).toBe(0);
  });
});
