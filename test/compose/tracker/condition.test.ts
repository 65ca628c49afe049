import { expect, test } from 'vitest';
import { TrackerFailure, toTrackportError } from '#adapters/github/transport/failure.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import { createTrackerProbe, createTrackerWatch } from '../../../src/compose/tracker/condition.ts';
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
  const watch = createTrackerWatch(clock);
  const tracker = watch.watch(plain);
  /** Calls the tracker, which fails so, or does not. */
  const call = async (next?: TrackerFailure): Promise<void> => {
    failure = next;
    await tracker.listIssues(query).catch(() => undefined);
    await clock.advance(1000);
  };
  return { clock, calls, watch, tracker, call };
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
  await watch.noteFailure(Promise.reject(refused), 'unauthorized').catch(() => undefined);
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

test('a probe asks at most every half minute, and its answer counts', async () => {
  const { clock, calls, watch, tracker, call } = setUp();
  for (let at = 0; at < 3; at += 1) await call(down);
  const probe = createTrackerProbe(tracker, clock);
  calls.length = 0;
  probe();
  await clock.advance(29_999);
  probe();
  expect(calls).toEqual(['list']);
  expect(watch.condition().state).toBe('failing');
  await clock.advance(1);
  probe();
  expect(calls).toEqual(['list', 'list']);
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

test('only failures of the kind that is asked for are noted', async () => {
  const { watch } = setUp();
  for (let at = 0; at < 5; at += 1)
    await watch.noteFailure(Promise.reject(down), 'unauthorized').catch(() => undefined);
  expect(watch.condition()).toEqual({ state: 'unknown' });
});
