import { describe, expect, test } from 'vitest';
import { TrackerFailure, toTrackportError } from '#adapters/github/transport/response.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import { askTracker, createTrackerWatch } from '#adapters/github/tracker-watch.ts';
import { createFakeClock } from '../../support/clock.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const query = { state: 'all', labels: [], order: 'updated-asc' } as const;

function setUp() {
  const clock = createFakeClock(START);
  const calls: string[] = [];
  let failure: TrackerFailure | undefined;
  const answer = async <T>(name: string, value: T): Promise<T> => {
    calls.push(name);
    if (failure) throw toTrackportError(failure);
    return value;
  };
  const plain: LeadTracker = {
    listIssues: () => answer('list', { kind: 'unchanged' } as const),
    readIssue: () => answer('issue', { kind: 'absent', isMoved: false } as const),
    quota: () => undefined,
  };
  const watch = createTrackerWatch({ clock, ask: () => askTracker(tracker, clock) });
  const tracker: LeadTracker = watch.noteCalls(plain);
  /** From now on calls fail so, or do not. */
  const turn = (next?: TrackerFailure): void => {
    failure = next;
  };
  /** Calls the tracker, which fails so, or does not. */
  const call = async (next?: TrackerFailure): Promise<void> => {
    failure = next;
    await tracker.listIssues(query).catch(() => undefined);
    await clock.advance(1000);
  };
  return { clock, calls, watch, tracker, call, turn };
}

const down = new TrackerFailure('server', { status: 503 });
const refused = new TrackerFailure('unauthorized', { status: 401 });

test('nothing is known before the first success, or the third failure in a row', async () => {
  const { watch, call } = setUp();
  expect(watch.condition()).toEqual({ state: 'unknown' });
  await call(down);
  await call(down);
  expect(watch.condition()).toEqual({ state: 'unknown' });
  await call(new TrackerFailure('timeout'));
  expect(watch.condition()).toEqual({ state: 'failing', cause: 'timeout', since: START });
});

test('failures count from the last success on, and a success ends them', async () => {
  const { watch, call } = setUp();
  for (const failure of [down, down, undefined, down, down]) await call(failure);
  expect(watch.condition()).toEqual({ state: 'ok' });
  await call(new TrackerFailure('network', { reason: 'ECONNREFUSED' }));
  expect(watch.condition()).toEqual({
    state: 'failing',
    cause: 'network (ECONNREFUSED)',
    since: START + 3000,
  });
  await call(down);
  expect(watch.condition()).toMatchObject({ cause: 'server (503)', since: START + 3000 });
  await call();
  expect(watch.condition()).toEqual({ state: 'ok' });
});

test('a credential that is refused counts at once, whoever met it', async () => {
  const { watch, call } = setUp();
  await call();
  await watch.noteCredential(Promise.reject(refused)).catch(() => undefined);
  expect(watch.condition()).toEqual({
    state: 'failing',
    cause: 'unauthorized (401)',
    since: START + 1000,
  });
  await call();
  expect(watch.condition()).toEqual({ state: 'ok' });
});

test('what is no failure of the tracker counts for nothing', async () => {
  const { watch, tracker } = setUp();
  const mistake = new TypeError('a mistake of ours');
  for (let at = 0; at < 5; at += 1)
    await watch.noteFailure(Promise.reject(mistake)).catch(() => undefined);
  expect(watch.condition()).toEqual({ state: 'unknown' });
  await tracker.readIssue(7);
  expect(watch.condition()).toEqual({ state: 'ok' });
});

/** Lets time pass in steps, as it does. */
async function pass(clock: ReturnType<typeof createFakeClock>, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) await clock.advance(1000);
}

describe('after one failure, and no call since', () => {
  test('it is failing once 15 s are over, in which it was asked again', async () => {
    const { clock, calls, watch, call } = setUp();
    await call();
    await call(down);
    calls.length = 0;
    await pass(clock, 13_000);
    expect([watch.condition().state, calls.length]).toEqual(['ok', 1]);
    await pass(clock, 1000);
    expect(watch.condition()).toEqual({
      state: 'failing',
      cause: 'server (503)',
      since: START + 1000,
    });
  });

  test('it is well where the tracker was well when it was asked again', async () => {
    const { clock, calls, watch, call, turn } = setUp();
    await call(down);
    turn();
    calls.length = 0;
    await pass(clock, 60_000);
    expect([watch.condition().state, calls.length]).toEqual(['ok', 1]);
  });
});

test('while it fails it is asked every half minute, until it is well', async () => {
  const { clock, calls, watch, call, turn } = setUp();
  for (let at = 0; at < 3; at += 1) await call(down);
  calls.length = 0;
  await pass(clock, 130_000);
  expect(calls).toHaveLength(5); // after 10 s, 40, 70, 100 and 130
  turn();
  await pass(clock, 30_000);
  expect(watch.condition()).toEqual({ state: 'ok' });
  calls.length = 0;
  await pass(clock, 120_000);
  expect(calls).toEqual([]);
});

test('a credential that is refused is tried less than once a minute, not beside others, and at once when it may be new', async () => {
  const { clock, calls, watch, call, turn } = setUp();
  await call(refused);
  calls.length = 0;
  await pass(clock, 60_000);
  await watch.noteCredential(Promise.reject(refused)).catch(() => undefined); // the worker's probe
  await pass(clock, 69_000);
  expect(calls).toEqual([]);
  await pass(clock, 1000);
  expect(calls).toHaveLength(1);
  turn();
  watch.askAgain();
  await clock.advance(0);
  expect([calls.length, watch.condition().state]).toEqual([2, 'ok']);
});

test('any request that the credential was taken for ends its refusal', async () => {
  const { watch, call } = setUp();
  await call();
  await call(refused);
  expect(watch.condition().state).toBe('failing');
  await watch.noteCredential(Promise.resolve());
  expect(watch.condition()).toEqual({ state: 'ok' });
});

test('the last failure stays to be seen after the tracker is well again', async () => {
  const { watch, call } = setUp();
  expect(watch.lastFailure()).toBeUndefined();
  await call();
  await call(down);
  await call();
  expect(watch.lastFailure()).toEqual({ cause: 'server (503)', at: START + 1000 });
  expect(watch.condition()).toEqual({ state: 'ok' });
});

test('of requests of any kind only a refused credential is noted', async () => {
  const { watch } = setUp();
  for (let at = 0; at < 5; at += 1)
    await watch.noteCredential(Promise.reject(down)).catch(() => undefined);
  expect(watch.condition()).toEqual({ state: 'unknown' });
});
