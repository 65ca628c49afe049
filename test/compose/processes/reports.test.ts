import { Counter, Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { ProcessMetrics } from '../../../src/compose/processes/ipc.ts';
import type { Member } from '../../../src/compose/processes/pool.ts';
import { createReports, combineReadiness } from '../../../src/compose/processes/reports.ts';
import type { CheckResult, Readiness } from '#http/readiness.ts';

/** More turns of promises than a scrape or the end of a process takes. */
const TURNS = 60;

async function metricsOf(requests: number): Promise<ProcessMetrics> {
  const registers = [new Registry()];
  new Counter({ name: 'requests_total', help: 'Requests.', registers }).inc(requests);
  new Gauge({ name: 'memory_bytes', help: 'Memory.', registers }).set(100);
  return registers[0]?.getMetricsAsJSON() ?? [];
}

/** A service of processes that have counted so much. */
async function service(...counts: number[]) {
  const started = counts.map(async (count) => {
    const metrics = await metricsOf(count);
    return {
      isListening: () => true,
      lastMetrics: metrics,
      ended: new Promise(() => undefined),
      call: () => Promise.resolve(metrics),
    } as unknown as Member;
  });
  const members = new Set(await Promise.all(started));
  const reports = createReports({
    size: counts.length,
    members: () => [...members],
    registry: new Registry(),
    clock: { sleep: () => new Promise(() => undefined) },
  });
  const end = (member: Member): Promise<void> => {
    members.delete(member);
    return reports.remember(member);
  };
  const scrape = async (name: string): Promise<number> => {
    const text = (await reports.whole.metrics('')) ?? '';
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  return { members, end, scrape };
}

test('a counter does not fall at any moment of the end of a process', async () => {
  for (let turns = 0; turns < TURNS; turns += 1) {
    const { members, end, scrape } = await service(5, 7);
    const scraping = scrape('requests_total');
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    for (const member of members) void end(member);
    expect(await scraping).toBe(12);
    expect(await scrape('requests_total')).toBe(12);
  }
});

test('processes that end at once are all remembered, and their memory is not', async () => {
  const { members, end, scrape } = await service(5, 7, 11);
  await scrape('requests_total');
  await Promise.all([...members].slice(0, 2).map(end));
  expect(await scrape('requests_total')).toBe(23);
  expect(await scrape('memory_bytes')).toBe(100);
});

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
