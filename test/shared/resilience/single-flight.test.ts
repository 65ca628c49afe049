import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import {
  createNextTurnFlight,
  createSingleFlight,
  createFlightsByQuestion,
} from '#shared/resilience/single-flight.ts';

function controlled<Flight>(create: (work: () => Promise<number>) => Flight) {
  const runs: PromiseWithResolvers<number>[] = [];
  const run = create(() => {
    const next = Promise.withResolvers<number>();
    runs.push(next);
    return next.promise;
  });
  return { run, runs };
}

describe('a single flight', () => {
  test('calls that come while a run is under way share it', async () => {
    const { run, runs } = controlled(createSingleFlight);
    const all = [run(), run()];
    expect(run.isRunning()).toBe(true);
    runs[0]?.resolve(1);
    expect(await Promise.all(all)).toEqual([1, 1]);
    expect(runs).toHaveLength(1);
  });

  test('keeps no result: a call after the run begins another', async () => {
    const { run, runs } = controlled(createSingleFlight);
    const first = run();
    runs[0]?.resolve(1);
    await first;
    expect(run.isRunning()).toBe(false);
    const second = run();
    runs[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  test('shares a failure, and the next call begins a run all the same', async () => {
    const { run, runs } = controlled(createSingleFlight);
    const all = [run(), run()];
    runs[0]?.reject(new Error('down'));
    for (const one of all) await expect(one).rejects.toThrow('down');
    const later = run();
    runs[1]?.resolve(2);
    expect(await later).toBe(2);
  });
});

test('flights of a turn look once for each question, after the calls', async () => {
  const looks: string[] = [];
  const look = createFlightsByQuestion(async ({ of }: { of: string }) => looks.push(of));
  await Promise.all([look({ of: 'a' }), look({ of: 'b' }), look({ of: 'a' })]);
  expect(looks).toEqual(['a', 'b']);
  await look({ of: 'a' });
  expect(looks).toEqual(['a', 'b', 'a']);
});

describe('a next flight of a turn', () => {
  /** A run begins one turn after the one before it was settled. */
  const endOfTurn = async (): Promise<void> => {
    await setImmediate();
    await setImmediate();
  };

  test('all calls of a turn share one run, which begins after what they did', async () => {
    const { run, runs } = controlled(createNextTurnFlight);
    const all = [run(), run()];
    expect(runs).toHaveLength(0);
    await endOfTurn();
    expect(runs).toHaveLength(1);
    runs[0]?.resolve(1);
    expect(await Promise.all(all)).toEqual([1, 1]);
  });

  test('a turn that brings more calls puts the run off', async () => {
    const { run, runs } = controlled(createNextTurnFlight);
    const all = [run()];
    for (let turn = 0; turn < 2; turn += 1) {
      await setImmediate();
      all.push(run());
    }
    await endOfTurn();
    expect(runs).toHaveLength(1);
    runs[0]?.resolve(1);
    expect(await Promise.all(all)).toEqual([1, 1, 1]);
    expect(runs).toHaveLength(1);
  });

  test('calls that never end do not put the run off for ever', async () => {
    const { run, runs } = controlled(createNextTurnFlight);
    const all = [run()];
    for (let turn = 0; turn < 10; turn += 1) {
      await setImmediate();
      all.push(run());
    }
    expect(runs).toHaveLength(1);
    runs[0]?.resolve(1);
    expect(await all[0]).toBe(1);
    await endOfTurn();
    runs[1]?.resolve(2);
    expect(await all.at(-1)).toBe(2);
  });

  test('no call is served by a run that had begun before it', async () => {
    const { run, runs } = controlled(createNextTurnFlight);
    const first = run();
    await endOfTurn();
    const later = [run(), run()];
    await endOfTurn();
    expect(runs).toHaveLength(1);
    runs[0]?.resolve(1);
    expect(await first).toBe(1);
    await endOfTurn();
    const last = run();
    runs[1]?.resolve(2);
    expect(await Promise.all(later)).toEqual([2, 2]);
    await endOfTurn();
    runs[2]?.resolve(3);
    expect(await last).toBe(3);
    expect(runs).toHaveLength(3);
  });

  test('a failure reaches those whose run it was, and the next run begins all the same', async () => {
    const { run, runs } = controlled(createNextTurnFlight);
    const first = run();
    await endOfTurn();
    const later = run();
    runs[0]?.reject(new Error('down'));
    await expect(first).rejects.toThrow('down');
    await endOfTurn();
    runs[1]?.resolve(2);
    expect(await later).toBe(2);
  });
});
