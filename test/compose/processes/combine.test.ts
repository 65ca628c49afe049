import { expect, test } from 'vitest';
import type { CheckResult, Readiness } from '#http/routes/operations/readiness.ts';
import { combineReadiness } from '../../../src/compose/processes/reports.ts';

const of = (checks: Record<string, CheckResult>, isStopping = false): Readiness => ({
  isStopping,
  checks,
});
const ready = (state: string): CheckResult => ({ isReady: true, state });
const unready = (state: string): CheckResult => ({ isReady: false, state });

test.each([
  ['the worker is shown as the process that works says', 'standby', 'ok', 'ok'],
  ['a worker that is paused', 'standby', 'paused', 'paused'],
  ['a directory whose crawl is done', 'crawling', 'complete', 'complete'],
  ['a tracker that fails for one', 'ok', 'failing', 'failing'],
  ['a tracker that one has asked', 'unknown', 'ok', 'ok'],
  ['a state of a later version comes last', 'new', 'unknown', 'unknown'],
])('%s', (_name, left, right, shown) => {
  for (const states of [
    [left, right],
    [right, left],
  ]) {
    const { checks } = combineReadiness(states.map((state) => of({ part: ready(state) })));
    expect(checks).toEqual({ part: ready(shown) });
  }
});

test('one that is not ready makes the whole not ready, whatever its state is called', () => {
  const all = [of({ store: unready('ok') }), of({ store: ready('unavailable') })];
  for (const some of [all, all.toReversed()])
    expect(combineReadiness(some).checks).toEqual({ store: unready('ok') });
});

test('it stops when one of them stops, and shows the checks of each', () => {
  const all = [of({ store: ready('ok') }, true), of({ worker: ready('standby') })];
  expect(combineReadiness(all)).toEqual({
    isStopping: true,
    checks: { store: ready('ok'), worker: ready('standby') },
  });
  expect(combineReadiness([])).toEqual({ isStopping: false, checks: {} });
});
