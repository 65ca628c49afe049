/** Leads that the tracker shows late, for want of a webhook and with replicas that lag. */
import { describe, expect, test, vi } from 'vitest';
import { DAY, MINUTE, SECOND, systemClock } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';
import type { Desk, DeskOptions } from '../../support/deletion-desk.ts';

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
async function deskWithLead(options: DeskOptions = {}) {
  const trackers = createCreepingClock();
  const ours = createCreepingClock();
  const move = (ms: number): void => {
    trackers.move(ms);
    ours.move(ms);
  };
  const { clock } = ours;
  const tracker = { clock: trackers.clock, replicaLagMs: LAG_MS, ...options.tracker };
  const desk = await openDesk({ ...options, clock, tracker });
  const first = desk.tracker.createIssue(leadIssue()).number;
  move(LAG_MS);
  await desk.start();
  return { clock, desk, first, move, moveOurs: ours.move };
}

const stateOf = (desk: Desk, number: number) => desk.tracker.readIssue(number)?.state;
const isClaimed = async (desk: Desk, number: number) => (await desk.claims.current()).has(number);
const looksOf = ({ database }: Desk) =>
  database.handle.prepare<[], number>('SELECT count(*) FROM late_look').pluck().get();
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 10_000, interval: 5 });
const eventOf = async (desk: Desk, id: string) => (await desk.read(id)).events[0];

async function expectBoth(desk: Desk, id: string, numbers: number[]): Promise<void> {
  await eventually(async () =>
    expect(await eventOf(desk, id)).toMatchObject({
      outcome: 'DONE',
      leadIds: numbers.map(String),
    }),
  );
  for (const number of numbers) expect(stateOf(desk, number)).toBe('closed');
}

/** The deletion of a person of whom one lead is not shown yet. */
async function deleteWithLateLead(desk: Desk) {
  const late = desk.tracker.createIssue(leadIssue()).number;
  const id = await desk.send(ADA);
  await desk.settled(id);
  expect((await eventOf(desk, id))?.leadIds).not.toContain(String(late));
  return { id, late };
}

describe('a lead created a moment before its deletion, whose webhook is lost', () => {
  test('is claimed and acted on a minute later, under the same event', async () => {
    const { desk, first, move } = await deskWithLead();
    const { id, late } = await deleteWithLateLead(desk);
    expect(await isClaimed(desk, late)).toBe(false);
    expect(desk.database.handle.prepare('SELECT payload FROM event').pluck().get()).toBeNull();
    move(MINUTE);
    await expectBoth(desk, id, [first, late]);
    expect(await isClaimed(desk, late)).toBe(true);
  });

  test('is found ten minutes later when the first look is too early; then nothing is kept', async () => {
    const { desk, first, move } = await deskWithLead({ tracker: { replicaLagMs: 5 * MINUTE } });
    move(5 * MINUTE);
    await desk.filler.catchUp();
    const { id, late } = await deleteWithLateLead(desk);
    move(MINUTE);
    const dueAt = desk.database.handle.prepare('SELECT dueAt - matchedAt FROM late_look').pluck();
    await eventually(() => expect(dueAt.get()).toBe(10 * MINUTE));
    expect(await isClaimed(desk, late)).toBe(false);
    move(9 * MINUTE);
    await expectBoth(desk, id, [first, late]);
    await eventually(() => expect(looksOf(desk)).toBe(0));
  });

  test('is found after a restart in between', async () => {
    const { clock, desk, first, move } = await deskWithLead();
    const { id, late } = await deleteWithLateLead(desk);
    await desk.stop();
    move(MINUTE);
    const next = await openDesk({ of: desk, clock });
    await next.start();
    await expectBoth(next, id, [first, late]);
    expect(await isClaimed(next, late)).toBe(true);
  });

  test('is found once the tracker answers, for a failed catch-up is no look', async () => {
    const { desk, first, move } = await deskWithLead();
    const { id, late } = await deleteWithLateLead(desk);
    desk.tracker.calls.clear();
    desk.tracker.fault({ kind: 'status', status: 500, path: '/issues$', count: 1000 });
    move(MINUTE);
    await eventually(() =>
      expect(desk.tracker.calls.count({ path: /issues$/ })).toBeGreaterThan(2),
    );
    expect(await isClaimed(desk, late)).toBe(false);
    desk.tracker.clearFaults();
    await expectBoth(desk, id, [first, late]);
  });

  test.each([
    ['while the worker runs', false],
    ['before a restart', true],
  ])('is found with our clock set back by a day %s', async (_when, restarts) => {
    const { clock, desk, first, move, moveOurs } = await deskWithLead();
    const { id, late } = await deleteWithLateLead(desk);
    if (restarts) await desk.stop();
    moveOurs(-DAY);
    const next = restarts ? await openDesk({ of: desk, clock }) : desk;
    if (restarts) await next.start();
    const isSoon = async () => ((await next.store.nextLookAt()) ?? 0) <= clock.now() + MINUTE;
    await eventually(async () => expect(await isSoon()).toBe(true));
    move(MINUTE);
    await expectBoth(next, id, [first, late]);
  });
});

describe('a look again', () => {
  test('leaves alone who came back after the deletion', async () => {
    const { desk, first, move } = await deskWithLead();
    const id = await desk.send(ADA);
    await desk.settled(id);
    move(3 * MINUTE);
    const back = desk.tracker.createIssue(leadIssue()).number;
    move(7 * MINUTE);
    await eventually(() => expect(looksOf(desk)).toBe(0));
    expect(await desk.directory.has(back)).toBe(true);
    expect(await isClaimed(desk, back)).toBe(false);
    expect((await eventOf(desk, id))?.leadIds).toEqual([String(first)]);
  });

  test('is there for an external id, and not for a lead id or a correlation id', async () => {
    const { desk, move } = await deskWithLead();
    const identities = { correlationId: 'c', externalIds: { 'crm-one': '7' } };
    const { number } = desk.tracker.createIssue(
      leadIssue({ email: 'b@example.com', ...identities }),
    );
    move(LAG_MS);
    for (const [names, looks] of [
      [{ leadId: number }, 0],
      [{ correlationId: 'c' }, 0],
      [{ externalId: '7' }, 1],
    ] as const) {
      await desk.settled(await desk.send(names));
      expect(looksOf(desk)).toBe(looks);
    }
  });

  test('does nothing once an operator gave every lead of the event back', async () => {
    const { clock, desk, first, move } = await deskWithLead();
    const { id, late } = await deleteWithLateLead(desk);
    await desk.claims.release(first, {
      at: clock.now(),
      actor: { kind: 'cli', subject: 'ops' },
      action: 'claim.release',
      subject: `claim/${first}`,
    });
    move(MINUTE);
    await eventually(async () => expect(await desk.directory.has(late)).toBe(true));
    move(10 * MINUTE);
    await eventually(() => expect(looksOf(desk)).toBe(0));
    expect(await isClaimed(desk, late)).toBe(false);
    expect(await eventOf(desk, id)).toMatchObject({ outcome: 'DONE', note: 'claim-released' });
  });

  test('never claims again what an operator gave back', async () => {
    const { clock, desk, first, move } = await deskWithLead();
    const second = desk.tracker.createIssue(leadIssue()).number;
    move(LAG_MS);
    const id = await desk.send(ADA);
    await desk.settled(id);
    await desk.claims.release(second, {
      at: clock.now(),
      actor: { kind: 'cli', subject: 'ops' },
      action: 'claim.release',
      subject: `claim/${second}`,
    });
    const before = await eventOf(desk, id);
    move(10 * MINUTE);
    await eventually(() => expect(looksOf(desk)).toBe(0));
    expect([await isClaimed(desk, first), await isClaimed(desk, second)]).toEqual([true, false]);
    expect(await eventOf(desk, id)).toEqual(before); // nor is the event opened for it
  });
});

describe('a late lead of an event', () => {
  test('whose other lead waits for a retry is acted on at once', async () => {
    const { desk, first, move } = await deskWithLead({ worker: { retryMs: [60 * MINUTE] } });
    const path = `/issues/${first}$`;
    desk.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', path });
    const late = desk.tracker.createIssue(leadIssue()).number;
    const id = await desk.send(ADA);
    await eventually(async () => expect((await eventOf(desk, id))?.attempts).toBe(1));
    move(MINUTE);
    await expectBoth(desk, id, [first, late]);
  });

  test('that is in hand is not forgotten, and nothing is done twice', async () => {
    const { desk, first, move } = await deskWithLead({ actions: ['close', 'comment'] });
    const gate = desk.tracker.hold({ method: 'PATCH' });
    const late = desk.tracker.createIssue(leadIssue()).number;
    const id = await desk.send(ADA);
    await gate.arrived();
    move(MINUTE);
    await eventually(async () => expect(await isClaimed(desk, late)).toBe(true));
    gate.open();
    await expectBoth(desk, id, [first, late]);
    for (const number of [first, late])
      expect(desk.tracker.readIssue(number)?.comments).toHaveLength(1);
  });

  test('keeps the event good for a delivery of the same bytes', async () => {
    const { desk, first, move } = await deskWithLead();
    const { id, late } = await deleteWithLateLead(desk);
    const gate = desk.tracker.hold({ method: 'PATCH' });
    move(MINUTE);
    await gate.arrived();
    expect(await desk.send(ADA)).toBe(id);
    gate.open();
    await expectBoth(desk, id, [first, late]);
  });

  test('that had failed is claimed and acted on, and the event is FAILED again', async () => {
    const { desk, first, move } = await deskWithLead({ worker: { retryMs: [] } });
    const path = `/issues/${first}$`;
    desk.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', path, count: 1000 });
    const { id, late } = await deleteWithLateLead(desk);
    expect(await eventOf(desk, id)).toMatchObject({ outcome: 'FAILED' });
    move(MINUTE);
    await eventually(() => expect(stateOf(desk, late)).toBe('closed'));
    await eventually(async () =>
      expect(await eventOf(desk, id)).toMatchObject({
        outcome: 'FAILED',
        lastError: 'tracker-server',
        leadIds: [String(first), String(late)],
      }),
    );
  });

  test('takes nothing from what was erased before', async () => {
    const { desk, first, move } = await deskWithLead({ actions: ['close', 'redact'] });
    const { id, late } = await deleteWithLateLead(desk);
    desk.tracker.calls.clear();
    move(MINUTE);
    await expectBoth(desk, id, [first, late]);
    expect((await eventOf(desk, id))?.erasure).toBe('incomplete-history');
    expect(desk.tracker.calls.count({ path: new RegExp(`/issues/${first}$`) })).toBe(0);
  });
});
