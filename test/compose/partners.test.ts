import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { WorkerStatus } from '#partners/worker/worker.ts';
import { TrackportError } from '#shared/errors.ts';
import { outcomeMetrics, workerMetrics } from '#compose/metrics.ts';
import { createFakeClock } from '../support/clock.ts';

const clock = createFakeClock();
const directory = { state: 'complete', issues: 3 } as const;

async function metricsOf(status: () => Promise<WorkerStatus>): Promise<string> {
  const registry = new Registry();
  workerMetrics({ registry, partners: { workerStatus: status }, clock });
  return registry.metrics();
}

test('a pause, the age of what waits and the dead letters can be alerted on', async () => {
  const text = await metricsOf(async () => ({
    state: 'paused',
    reason: 'unauthorized',
    open: 2,
    oldestAskedAt: clock.now() - 90_000,
    deadLetters: 1,
    lackedPartners: ['crm-nine', 'crm-ten'],
    directory,
  }));
  expect(text).toContain('trackport_worker_paused 1');
  expect(text).toContain('trackport_deletions_open 2');
  expect(text).toContain('trackport_deletions_oldest_age_seconds 90');
  expect(text).toContain('trackport_deletions_dead_letters 1');
  expect(text).toContain('trackport_partners_lacking 2');
  expect(text).toContain('trackport_lead_directory_complete 1');
});

test('without the store the metrics are still answered, and claim nothing', async () => {
  const text = await metricsOf(() => Promise.reject(new TrackportError('store-unavailable')));
  expect(text).toContain('# HELP trackport_worker_paused');
  expect(text).not.toMatch(/^trackport_/m);
});

describe('outcomes of events', () => {
  const of = { partnerId: 'crm-one', path: 'deletions', outcome: 'FAILED' } as const;

  async function countsOf(namesPartners: boolean): Promise<string> {
    const registry = new Registry();
    const partnerIds = () => ['crm-one', 'crm-quiet'];
    const count = outcomeMetrics({ registry, namesPartners, partnerIds });
    count(of, 2);
    count({ ...of, partnerId: 'crm-two' }, 1);
    return registry.metrics();
  }

  test('are there at 0 for a partner that has none, so that the first one is a rise', async () => {
    const name = 'trackport_partner_events_total';
    const [named, unnamed] = [await countsOf(true), await countsOf(false)];
    for (const path of ['deletions', 'events'])
      for (const outcome of ['DONE', 'UNMATCHED', 'IGNORED', 'REJECTED', 'FAILED']) {
        const labels = `path="${path}",outcome="${outcome}"`;
        expect(named).toContain(`${name}{partner="crm-quiet",${labels}} 0`);
        expect(unnamed).toMatch(new RegExp(`^${name}\\{${labels}\\} [03]$`, 'm'));
      }
    expect(named).toContain(`${name}{partner="crm-one",path="deletions",outcome="FAILED"} 2`);
  });

  test('name no partner where the public can read them', async () => {
    const text = await countsOf(false);
    expect(text).toContain('trackport_partner_events_total{path="deletions",outcome="FAILED"} 3');
    expect(text).not.toContain('crm-');
  });
});
