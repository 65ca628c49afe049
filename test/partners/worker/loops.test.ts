import { expect, onTestFinished, test } from 'vitest';
import { type Choice, createLeasing } from '#partners/worker/lease-events.ts';
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
import type { WorkItem } from '#partners/worker/work-item.ts';
import type { Stage } from '#partners/receipts/event-progress.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { type LogFields, silentLog } from '#shared/log.ts';
import { createAlarm } from '#shared/resilience/background.ts';

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

/** Events as they wait in the store, each with what an attempt at it comes to, which may take a while. */
type Waiting = Map<number, () => ActResult | Promise<ActResult>>;

/** A worker that acts on what waits, in that order, and may be paused. */
function startActing(waiting: Waiting) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const alarm = createAlarm(clock);
  const pause = createTrackerPause({ clock, log: silentLog, probeEveryMs: SECOND });
  const tries: number[] = [];
  const madeDue: string[] = [];
  const running = runActing({
    editor: { checkWriting: async () => ({ kind: 'well' }) },
    db: {
      exclusive: (work: (tx: object) => void) => work({ run: (sql: string) => madeDue.push(sql) }),
    },
    leasing: {
      lease: async (_stage: Stage, _limit: number, choice?: Choice) => {
        const event = [...waiting.keys()].find((one) => !choice?.except.has(one));
        return event === undefined ? [] : [{ event }];
      },
      workOn: async ([{ event }]: [WorkItem]) => {
        tries.push(event);
        const result = await waiting.get(event)?.();
        if (result?.kind === 'settled') waiting.delete(event);
        return result;
      },
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
    for (let turns = 0; turns < 50; turns += 1) await clock.advance(0);
  };
  return { clock, pause, alarm, tries, madeDue, pass };
}

const settled = (): ActResult => ({ kind: 'settled', outcome: 'DONE' });
const rescheduled = (): ActResult => ({ kind: 'rescheduled' });

test('a pause ends with an event that comes to its end, not with one that waits, or that the limit stops', async () => {
  const limited = (): ActResult => ({ kind: 'limited', retryAt: clock.now() + MINUTE });
  const results = [limited, settled];
  const { clock, pause, tries, pass } = startActing(
    new Map([
      [1, rescheduled],
      [2, () => ({ kind: 'left' })],
      [3, () => (results.shift() ?? settled)()],
    ]),
  );
  pause.begin('forbidden');
  await pass(SECOND);
  await pass(MINUTE - 1);
  expect([tries, pause.current()?.code]).toEqual([[1, 2, 3], 'forbidden']);
  await pass(1);
  expect(tries.slice(0, 6)).toEqual([1, 2, 3, 1, 2, 3]);
  expect(pause.current()).toBeUndefined();
});

test('a probe tries each event once: one that others wait for has its turn, however many they are', async () => {
  const waiting: Waiting = new Map(Array.from({ length: 20 }, (_, event) => [event, rescheduled]));
  const { pause, tries, pass } = startActing(waiting);
  pause.begin('forbidden');
  await pass(SECOND);
  expect(tries).toHaveLength(20);
  expect(pause.current()?.code).toBe('forbidden');
  waiting.set(20, settled);
  await pass(SECOND);
  expect(tries.slice(20, 41)).toEqual(Array.from({ length: 21 }, (_, event) => event));
  expect(pause.current()).toBeUndefined();
});

test.each(['limited', 'paused'] as const)(
  'what is %s for a credential that was replaced meanwhile is tried with the new one at once',
  async (kind) => {
    const response = Promise.withResolvers<ActResult>();
    const waiting: Waiting = new Map([[1, () => response.promise]]);
    const { clock, pause, alarm, tries, madeDue, pass } = startActing(waiting);
    await pass(0);
    pause.probeNow();
    alarm.ring();
    waiting.set(1, settled);
    response.resolve({
      kind,
      retryAt: clock.now() + 20 * MINUTE,
      code: 'unauthorized',
    });
    await pass(0);
    expect(tries).toEqual([1, 1]);
    expect(madeDue).toHaveLength(1);
  },
);
