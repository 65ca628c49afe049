import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { WorkerStatus } from '#partners/worker.ts';
import { TrackportError } from '#shared/errors.ts';
import { workerMetrics } from '../../src/compose/worker-metrics.ts';
import { createFakeClock } from '../support/clock.ts';

const clock = createFakeClock();
const directory = { state: 'complete', issues: 3 } as const;

async function metricsOf(status: () => Promise<WorkerStatus>): Promise<string> {
  const registry = new Registry();
  workerMetrics({ registry, worker: { status }, clock });
  return registry.metrics();
}

test('a pause, the age of what waits and the dead letters can be alerted on', async () => {
  const text = await metricsOf(async () => ({
    state: 'paused',
    reason: 'unauthorized',
    open: 2,
    oldestReceivedAt: clock.now() - 90_000,
    deadLetters: 1,
    directory,
  }));
  expect(text).toContain('trackport_worker_paused 1');
  expect(text).toContain('trackport_deletions_open 2');
  expect(text).toContain('trackport_deletions_oldest_age_seconds 90');
  expect(text).toContain('trackport_deletions_dead_letters 1');
  expect(text).toContain('trackport_lead_directory_complete 1');
});

test('without the store the metrics are still answered, and claim nothing', async () => {
  const text = await metricsOf(() => Promise.reject(new TrackportError('store-unavailable')));
  expect(text).toContain('# HELP trackport_worker_paused');
  expect(text).not.toMatch(/^trackport_/m);
});
