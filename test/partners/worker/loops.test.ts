import { expect, onTestFinished, test } from 'vitest';
import { createLeasing } from '#partners/worker/lease-events.ts';
import type { ActResult } from '#partners/worker/act/act-on-event.ts';
import {
  type ActingLoop,
  type LoopFailure,
  runActing,
  runLoop,
  runMatching,
} from '#partners/worker/loops.ts';
import { createTrackerPause } from '#partners/worker/may-write.ts';
import { createFakeClock } from '../../support/clock.ts';
import { acceptEvent, INSTANCE, receiptsIn, sealer } from '../../support/partners.ts';
import { temporaryDatabase, withCommits } from '../../support/stores.ts';
import type { Matching } from '#partners/worker/match/match-event.ts';
import type { Stage, WorkItem } from '#partners/worker/work-item.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { type LogFields, silentLog } from '#shared/log.ts';
import { createAlarm } from '#shared/resilience/alarm.ts';

/** Two events that are due; nothing can be written while the store is `away`. */
async function createWorld() {
  const database = temporaryDatabase();
  const clock = createFakeClock(0);
  const receipts = receiptsIn(database);
  for (const text of ['a', 'b'])
    await acceptEvent(receipts, { at: 0, sameEventKey: Buffer.from(text) });
  const store = { isAway: false };
  const db = withCommits(database, (commit) => {
    if (store.isAway) throw new Error('away');
    return commit();
  });
  const leasing = createLeasing({
    db,
    instance: INSTANCE,
    sealer,
    clock,
    waitMaxMs: () => 1e9,
  });
  return { store, clock, database, leasing };
}

const fail = () => Promise.reject(new Error('half-way'));

test('gives back what was left half-way before anything else is leased', async () => {
  const { leasing } = await createWorld();
  const items = await leasing.lease('match', 2);
  await expect(leasing.workOn(items, fail)).rejects.toThrow('half-way');
  expect(await leasing.lease('act', 1)).toEqual([]);
  expect(await leasing.lease('match', 2)).toHaveLength(2);
  expect(await leasing.lease('match', 2)).toEqual([]);
});

test('gives back what was left half-way by both loops', async () => {
  const { leasing } = await createWorld();
  for (const item of await leasing.lease('match', 2))
    await expect(leasing.workOn([item], fail)).rejects.toThrow('half-way');
  expect(await leasing.lease('match', 2)).toHaveLength(2);
});

test('leases nothing until what was left half-way could be given back', async () => {
  const { store, leasing } = await createWorld();
  const items = await leasing.lease('match', 1);
  await expect(leasing.workOn(items, fail)).rejects.toThrow('half-way');
  store.isAway = true;
  await expect(leasing.lease('act', 1)).rejects.toThrow('away');
  store.isAway = false;
  expect(await leasing.lease('match', 2)).toHaveLength(2);
});

test('gives nothing back of what was worked on to the end', async () => {
  const { leasing } = await createWorld();
  await leasing.workOn(await leasing.lease('match', 2), async () => undefined);
  expect(await leasing.lease('match', 2)).toEqual([]);
});

test('waits until the next event is due, five seconds at most', async () => {
  const { clock, database, leasing } = await createWorld();
  clock.set(1000);
  const waits: number[] = [await leasing.waitMs('act')];
  for (const dueAt of [60_000, 3000, 1000, 0]) {
    await database.exec(`UPDATE event SET due_at = ${dueAt}`);
    waits.push(await leasing.waitMs('match'));
  }
  expect(waits).toEqual([5000, 5000, 2000, 1, 1]);
});

const away = () => new TrackportError('store-unavailable');

/** A loop whose turns end as `ends` says, the last end again and again. */
function start(ends: (Error | 'well')[]) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const lines: string[] = [];
  const note = (level: string) => (fields: LogFields) =>
    void lines.push(`${level} ${String(fields['error'])}`);
  const alarm = createAlarm(clock);
  const failures = new Map<Stage, LoopFailure>();
  let turns = 0;
  const running = runLoop(
    {
      alarms: { match: alarm, act: alarm },
      failures,
      clock,
      log: { ...silentLog, warn: note('warn'), error: note('error') },
      stopping: stop.signal,
    },
    'act',
    async () => {
      const end = ends.length > 1 ? ends.shift() : ends[0];
      turns += 1;
      if (end instanceof Error) throw end;
      return SECOND;
    },
  );
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const pass = async (seconds: number) => {
    for (let count = 0; count < seconds; count += 1) await clock.advance(SECOND);
  };
  return { lines, failures, pass, turns: () => turns };
}

test('a store that is away fills no log: the same failure is one line a minute', async () => {
  const { lines, pass, turns, failures } = start([away()]);
  await pass(MINUTE / SECOND - 1);
  expect(turns()).toBeGreaterThan(50);
  expect(failures.get('act')).toMatchObject({ code: 'store-unavailable' });
  expect(lines).toEqual(['warn TrackportError(store-unavailable)']);
  await pass(2);
  expect(lines).toHaveLength(2);
});

test('a mistake of ours is told beside it, as an error', async () => {
  const { lines, pass } = start([away(), new TypeError('x'), away(), new TypeError('x'), 'well']);
  await pass(10);
  expect(lines).toEqual([
    'warn TrackportError(store-unavailable)',
    expect.stringMatching(/^error TypeError/),
  ]);
});

test('events that come one by one share a batch, which waits a tenth of a second', async () => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const alarm = createAlarm(clock);
  const batches: number[] = [];
  let due = 1;
  const leasing = {
    lease: async () => {
      const items = Array.from({ length: due }, () => ({}) as WorkItem);
      if (due > 0) batches.push(due);
      due = 0;
      return items;
    },
    workOn: async () => undefined as never,
    waitMs: async () => MINUTE,
  };
  const running = runMatching({
    db: { dataVersion: async () => 0 },
    leasing,
    matching: {} as Matching,
    alarms: { match: alarm, act: createAlarm(clock) },
    failures: new Map(),
    clock,
    log: silentLog,
    stopping: stop.signal,
  });
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  await clock.advance(0);
  due = 2;
  alarm.ring();
  await clock.advance(99);
  due = 5;
  alarm.ring();
  await clock.advance(0);
  expect(batches).toEqual([1]);
  await clock.advance(1);
  await clock.advance(0);
  expect(batches).toEqual([1, 5]);
});

test('a pause ends with an event that comes to its end, not with one that waits, or that the limit stops', async () => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const limited: ActResult = { kind: 'limited', retryAt: clock.now() + MINUTE };
  const results: ActResult[] = [
    { kind: 'rescheduled' },
    { kind: 'left' },
    limited,
    { kind: 'settled', outcome: 'DONE' },
  ];
  const alarm = createAlarm(clock);
  const pause = createTrackerPause({ clock, log: silentLog, probeEveryMs: SECOND });
  pause.begin('forbidden');
  const running = runActing({
    editor: { checkWriting: async () => ({ kind: 'well' }) },
    leasing: {
      lease: async () => [{}],
      workOn: async () => results.shift(),
      waitMs: async () => MINUTE,
    },
    walTruncation: { run: async () => undefined, waitMs: () => Infinity },
    pause,
    alarms: { match: alarm, act: alarm },
    failures: new Map(),
    clock,
    log: silentLog,
    stopping: stop.signal,
  } as unknown as ActingLoop);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const pass = async (ms: number) => {
    await clock.advance(ms);
    for (let turns = 0; turns < 10; turns += 1) await clock.advance(0);
    return [results.length, pause.current()?.code];
  };
  expect(await pass(SECOND)).toEqual([1, 'forbidden']);
  expect(await pass(MINUTE - SECOND - 1)).toEqual([1, 'forbidden']);
  expect(await pass(1)).toEqual([0, undefined]);
});
