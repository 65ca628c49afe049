import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createAlarm } from '#partners/worker/loops/run-loop.ts';
import { type MatchingDeps, runMatching } from '#partners/worker/worker.ts';
import { HOUR } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

/** A worker that has nothing to match; `said` is what it tells others when the clock was set back. */
function startMatching() {
  const clock = createFakeClock(24 * HOUR);
  const stopping = new AbortController();
  const world = { isAway: false, said: [] as unknown[] };
  const alarms = {
    match: createAlarm(clock),
    act: createAlarm(clock),
  };
  const deps: Partial<MatchingDeps> = {
    alarms: { ...alarms, act: { ...alarms.act, ring: () => void world.said.push('act now') } },
    failures: new Map(),
    clock,
    log: silentLog,
    stopping: stopping.signal,
    store: {
      changedElsewhere: async () => false,
      moveBack: async (...moved) => {
        if (world.isAway) throw new Error('away');
        world.said.push(moved);
      },
    },
    leasing: { lease: async () => [], workOn: (_items, work) => work(), waitMs: async () => 5000 },
  };
  const running = runMatching(deps as MatchingDeps);
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });
  const turn = async (): Promise<void> => {
    alarms.match.ring();
    for (let turns = 0; turns < 5; turns += 1) await nextTurn();
  };
  return { clock, world, turn };
}

test('a clock that is set back moves back all that waits', async () => {
  const { clock, world, turn } = startMatching();
  await turn();
  expect(world.said).toEqual([]);
  clock.set(23 * HOUR);
  await turn();
  await turn();
  expect(world.said).toEqual([[HOUR, 23 * HOUR], 'act now']);
});

test('a store that is away just then is told of it as soon as it is back', async () => {
  const { clock, world, turn } = startMatching();
  await turn();
  world.isAway = true;
  clock.set(23 * HOUR);
  await turn();
  expect(world.said).toEqual([]);
  world.isAway = false;
  await turn();
  expect(world.said).toEqual([[HOUR, 23 * HOUR], 'act now']);
});

test('a clock that goes back by less than a second is none that was set', async () => {
  const { clock, world, turn } = startMatching();
  await turn();
  clock.set(24 * HOUR - 999);
  await turn();
  expect(world.said).toEqual([]);
});
