/**
 * A system clock that is set back while nothing runs: what waits is due as soon as ever. The tracker's is
 * the same one, so that nobody tells which of its times was wrong.
 */
import { expect, test } from 'vitest';
import { type Matching, matchEvents } from '#partners/worker/match/match-event.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import type { WorkItem } from '#partners/worker/work-item.ts';
import { type Clock, DAY, HOUR, MINUTE, systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../support/deletions/world.ts';
import { eventually } from '../../support/eventually.ts';
import { nextDueAt } from '#partners/worker/lease-events.ts';

function createMovableClock() {
  let offset = 0;
  const clock: Clock = { ...systemClock, now: () => Date.now() + offset };
  return {
    clock,
    move: (ms: number) => {
      offset += ms;
    },
  };
}

const eventOf = async (world: DeletionWorld, id: string) => (await world.read(id)).events[0];

const options = { worker: { retryMs: [8 * HOUR, 8 * HOUR] } };

/** A deletion of some age that has failed once and waits, found by a worker with another clock. */
async function restartAfterFailure({ ageMs, moveMs }: { ageMs: number; moveMs: number }) {
  const { clock, move } = createMovableClock();
  const world = await openDeletions({ ...options, clock, tracker: { clock } });
  const { number } = world.tracker.createIssue(leadIssue());
  const id = await world.send({ email: 'ada@example.com' });
  move(ageMs);
  await world.start();
  world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
  await eventually(async () => expect((await eventOf(world, id))?.attempts).toBe(1));
  await world.stop();
  move(moveMs);
  const next = await openDeletions({ ...options, clock, of: world });
  await next.start();
  return { clock, number, next, id };
}

test('a retry that waits for longer than any wait is tried at once', async () => {
  const times = { ageMs: 3 * DAY, moveMs: -DAY };
  const { next, id, number } = await restartAfterFailure(times);
  expect((await next.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 2 });
  expect(next.tracker.readIssue(number)?.state).toBe('closed');
});

test('a retry that may well wait so long goes on waiting', async () => {
  const times = { ageMs: 3 * DAY, moveMs: -HOUR };
  const { clock, next, id } = await restartAfterFailure(times);
  expect(await nextDueAt(next.work.db, 'act')).toBeGreaterThan(clock.now() + 8 * HOUR);
  await next.settled(await next.send({ leadId: 1, email: 'ada@example.com' })); // it has had a turn
  expect(await eventOf(next, id)).toMatchObject({ outcome: 'PENDING', attempts: 1 });
});

test('a deletion that matched nothing is looked for again at once', async () => {
  const { clock, move } = createMovableClock();
  const options = {
    clock,
    tracker: { clock },
    worker: { timing: { unmatchedWaitsMs: [MINUTE, 9 * MINUTE] } },
  };
  const world = await openDeletions(options);
  await world.start();
  const id = await world.send({ email: 'ada@example.com' });
  await eventually(async () => expect((await eventOf(world, id))?.attempts).toBe(1));
  await world.stop();
  const { number } = world.tracker.createIssue(leadIssue());
  move(-DAY);
  const next = await openDeletions({ ...options, of: world });
  await next.start();
  expect((await next.settled(id)).events[0]).toMatchObject({
    outcome: 'DONE',
    leadIds: [String(number)],
  });
});

test('what a match has asked before is asked again, however far in the future that was', async () => {
  const now = Date.now();
  const progress = {
    stage: 'match',
    askedAt: now + DAY,
    misses: 1,
    missedSince: now + DAY,
  } as const;
  const item: Partial<WorkItem> = { event: 1, leaseToken: 'l', dueAt: now, attempts: 1, progress };
  const asked: unknown[] = [];
  const deps: Partial<Matching> = {
    clock: { ...systemClock, now: () => now },
    partners: { all: () => [] },
    db: temporaryDatabase(),
    directory: {
      cover: async (instant, _waitMs, since) => {
        asked.push({ instant, since });
        return { until: now, isComplete: true, since: now };
      },
      retryMs: () => 0,
      askAgain: () => undefined,
      mayLookUp: () => true,
      noteFailedLookUp: () => undefined,
    },
  };
  await matchEvents(deps as Matching, [item as WorkItem]);
  expect(asked).toEqual([{ instant: now, since: now }]);
});
