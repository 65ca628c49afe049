import { describe, expect, onTestFinished, test } from 'vitest';
import { createBackgroundWork, type WorkerLease } from '#partners/worker/background-work.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

/** Locks of several processes on one store, in memory. */
function createLocks() {
  let holder: symbol | undefined;
  let isAway = false;
  let isAsked = false;
  const create = (): WorkerLease => {
    const me = Symbol('process');
    return {
      take: async () => {
        if (isAway) throw new TrackportError('store-unavailable');
        if (holder === undefined) isAsked = false;
        holder ??= me;
        return holder === me;
      },
      ask: async () => void (isAsked = true),
      isAsked: async () => isAsked,
      release: async () => {
        if (holder === me) holder = undefined;
      },
    };
  };
  /** Another instance has it now, until it gives it back. */
  const steal = () => {
    const thief = Symbol('thief');
    holder = thief;
    return {
      release: () => {
        if (holder === thief) holder = undefined;
      },
    };
  };
  return { create, steal, failLeases: () => void (isAway = true) };
}

function setUp() {
  const clock = createFakeClock();
  const { create: createLease, steal, failLeases } = createLocks();
  const logged: string[] = [];
  const write: Log['info'] = (_fields, text) => void logged.push(text);
  const log: Log = { isDebug: () => false, debug: write, info: write, warn: write, error: write };
  const createProcess = (failures = 0, canDoMore = () => false) => {
    const done: string[] = [];
    let left = failures;
    const work = createBackgroundWork({
      lease: createLease(),
      clock,
      log,
      jobs: {
        start: async () => {
          left -= 1;
          if (left >= 0) throw new TrackportError('store-unavailable');
          done.push('start');
        },
        standBy: async () => {
          done.push('stand by');
          return canDoMore();
        },
        stop: async () => {
          done.push('stop');
        },
      },
    });
    onTestFinished(() => work.stop());
    return { work, done };
  };
  return { clock, logged, createProcess, steal, failLeases };
}

test('the first instance works, the second stands by and says so once', async () => {
  const { clock, logged, createProcess } = setUp();
  const [first, second] = [createProcess(), createProcess()];
  await first.work.start();
  await second.work.start();
  for (let at = 0; at < 5; at += 1) await clock.advance(2000);
  expect(first.done).toEqual(['start']);
  expect(first.work.state()).toBe('working');
  expect(new Set(second.done)).toEqual(new Set(['stand by']));
  expect(second.work.state()).toBe('standby');
  expect(logged).toEqual(['another instance works on this store: this one stands by']);
});

test('the second takes over within two seconds after the first stopped, not before', async () => {
  const { clock, createProcess } = setUp();
  const [first, second] = [createProcess(), createProcess()];
  await first.work.start();
  await second.work.start();
  await clock.advance(2000);
  expect(second.done).not.toContain('start');
  await first.work.stop();
  expect(first.done).toEqual(['start', 'stop']);
  expect(first.work.state()).toBe('stopped');
  await clock.advance(2000);
  expect(second.done).toContain('start');
  expect(second.work.state()).toBe('working');
});

test('what cannot be begun now is tried again, and nobody else works meanwhile', async () => {
  const { clock, createProcess } = setUp();
  const [first, second, third] = [createProcess(), createProcess(2), createProcess()];
  for (const { work } of [first, second, third]) await work.start();
  await first.work.stop();
  await clock.advance(2000);
  expect(second.work.state()).toBe('standby');
  await clock.advance(2000);
  await clock.advance(2000);
  expect(second.done).toContain('start');
  expect(third.work.state()).toBe('standby');
});

test('an instance that cannot begin at its start fails, and leaves the work to others', async () => {
  const { createProcess } = setUp();
  const [first, second] = [createProcess(1), createProcess()];
  await expect(first.work.start()).rejects.toMatchObject({ code: 'store-unavailable' });
  await first.work.stop();
  await second.work.start();
  expect(second.work.state()).toBe('working');
});

test('one that stands by can be stopped and never begins', async () => {
  const { clock, createProcess } = setUp();
  const [first, second] = [createProcess(), createProcess()];
  await first.work.start();
  await second.work.start();
  await second.work.stop();
  await first.work.stop();
  await clock.advance(10_000);
  expect(second.done).not.toContain('start');
  expect(second.work.state()).toBe('stopped');
});

test('an instance that another one took over from stands by, and works again when that is gone', async () => {
  const { clock, logged, createProcess, steal } = setUp();
  const first = createProcess();
  await first.work.start();
  const thief = steal();
  await clock.advance(2000);
  expect(first.done).toEqual(['start', 'stop', 'stand by']);
  expect(first.work.state()).toBe('standby');
  expect(logged).toEqual(['another instance has taken over: this one stands by']);
  thief.release();
  await clock.advance(2000);
  await clock.advance(2000);
  expect(first.done.at(-1)).toBe('start');
  expect(first.work.state()).toBe('working');
});

test('an instance that cannot ask the store goes on', async () => {
  const { clock, createProcess, failLeases } = setUp();
  const first = createProcess();
  await first.work.start();
  failLeases();
  await clock.advance(2000);
  expect(first.done).toEqual(['start']);
  expect(first.work.state()).toBe('working');
});

describe('an instance that can do what the one that works cannot', () => {
  test('gets the work, and the other one does not ask for it back', async () => {
    const { clock, logged, createProcess } = setUp();
    let isLacking = true;
    const [first, second] = [createProcess(), createProcess(0, () => isLacking)];
    await first.work.start();
    await second.work.start();
    for (let at = 0; at < 3; at += 1) await clock.advance(2000);
    expect(second.work.state()).toBe('working');
    isLacking = false;
    for (let at = 0; at < 20; at += 1) await clock.advance(2000);
    expect(second.done.filter((what) => what !== 'stand by')).toEqual(['start']);
    expect(first.done.filter((what) => what !== 'stand by')).toEqual(['start', 'stop']);
    expect(first.work.state()).toBe('standby');
    expect(logged).toContain(
      'another instance knows partners that this one lacks: this one stands by',
    );
  });

  test('and is gone by then leaves it to the one that had it', async () => {
    const { clock, createProcess } = setUp();
    const [first, second] = [createProcess(), createProcess(0, () => true)];
    await first.work.start();
    await second.work.start();
    await second.work.stop();
    for (let at = 0; at < 10; at += 1) await clock.advance(2000);
    expect(first.done.filter((what) => what !== 'stand by')).toEqual(['start', 'stop', 'start']);
    expect(first.work.state()).toBe('working');
  });
});
