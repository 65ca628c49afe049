import type { Registry } from 'prom-client';

import { createPartnerCounter, type PartnerRegistry } from '#http/telemetry/partner-metrics.ts';
import { outcomes, partnerPaths } from '#partners/receipts/receipt.ts';
import type { OutcomeReporterDeps } from '#partners/receipts/report-outcomes.ts';
import type { Partners } from '#partners/index.ts';
import type { WorkerStatus } from '#partners/worker/worker.ts';
import { type Clock, SECOND } from '#shared/clock.ts';

import { gauge } from './metrics.ts';

export type WorkerMetricsDeps = {
  registry: Registry;
  partners: Pick<Partners, 'workerStatus'>;
  clock: Pick<Clock, 'now'>;
};

/** What operators must see of deletions: an erasure that waits for a day is a reason to get up. */
export function workerMetrics({ registry, partners, clock }: WorkerMetricsDeps): void {
  const readings: [name: string, help: string, read: (status: WorkerStatus) => number][] = [
    ['trackport_deletions_open', 'Events that wait or are worked on.', ({ open }) => open],
    [
      'trackport_deletions_oldest_age_seconds',
      'Age of the oldest event that is not settled; 0 when there is none.',
      ({ oldestAskedAt }) =>
        oldestAskedAt === undefined ? 0 : (clock.now() - oldestAskedAt) / SECOND,
    ],
    [
      'trackport_deletions_dead_letters',
      'Events that ended FAILED and need a person.',
      ({ deadLetters }) => deadLetters,
    ],
    [
      'trackport_partners_lacking',
      'Partners whose events wait, since the configuration of the process that works lacks them.',
      ({ lackedPartners }) => lackedPartners.length,
    ],
    [
      'trackport_worker_active',
      '1 in the process that works, 0 in one that stands by for it.',
      ({ state }) => (state === 'standby' || state === 'stopped' ? 0 : 1),
    ],
    [
      'trackport_worker_paused',
      '1 while the tracker refuses the worker for all leads.',
      ({ state }) => (state === 'paused' ? 1 : 0),
    ],
    [
      'trackport_lead_directory_complete',
      '1 once a crawl of all issues has ended.',
      ({ directory }) => (directory.state === 'complete' ? 1 : 0),
    ],
  ];
  for (const [name, help, read] of readings)
    gauge(registry, {
      name,
      help,
      // Without the store nothing is known, and 0 would say that all is well.
      read: () => partners.workerStatus().then(read, () => undefined),
      // Of the store all processes say the same; of the worker only one says 1.
      aggregator: name === 'trackport_worker_active' ? 'sum' : 'max',
    });
}

/** Counts what became of partners' events; by partner only where partners may be named. */
export function outcomeMetrics(partners: PartnerRegistry): OutcomeReporterDeps['count'] {
  const settled = outcomes.filter((outcome) => outcome !== 'PENDING');
  const add = createPartnerCounter(partners, {
    name: 'trackport_partner_events_total',
    help: 'Events of partners that were settled, by path and outcome.',
    labelNames: ['path', 'outcome'],
    known: partnerPaths.flatMap((path) => settled.map((outcome) => ({ path, outcome }))),
  });
  return ({ partnerId, path, outcome }, events) => add(partnerId, { path, outcome }, events);
}
