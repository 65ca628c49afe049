import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { TrackerExchange } from '#adapters/github/transport/client.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import {
  createPartnerCounter,
  createPartnerGauge,
  type PartnerRegistry,
} from '#http/telemetry/partner-metrics.ts';
import type { Partners } from '#partners/index.ts';
import { outcomes, partnerPaths } from '#partners/receipts/receipt.ts';
import type { OutcomeCounter } from '#partners/receipts/report-outcomes.ts';
import type { WorkerStatus } from '#partners/worker/worker.ts';
import { type Clock, SECOND } from '#shared/clock.ts';

/** Counts calls to the tracker. */
export function trackerCallMetrics(registry: Registry): (call: TrackerExchange) => void {
  const calls = new Counter({
    name: 'trackport_tracker_calls_total',
    help: 'Calls to the tracker by route, status and whether they count against its limit.',
    labelNames: ['route', 'status', 'billed'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'trackport_tracker_call_duration_seconds',
    help: 'Time from sending a call to the tracker to the end of its answer.',
    labelNames: ['route'] as const,
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  return ({ route, status, failure, isBilled, durationMs }) => {
    calls.inc({ route, status: status ?? failure ?? 'none', billed: String(isBilled) });
    durations.observe({ route }, durationMs / SECOND);
  };
}

type LeadMeasures = {
  tracker: Pick<LeadTracker, 'quota'>;
  clockSkewMs: () => number | undefined;
  cacheBytes: () => number;
};

/** Shows what is left of the tracker's limit, how far its clock is ahead, and the memory of its responses. */
export function leadMetrics(
  registry: Registry,
  { tracker, clockSkewMs, cacheBytes }: LeadMeasures,
): void {
  gauge(registry, {
    name: 'trackport_tracker_quota_remaining',
    help: 'Calls left until the tracker renews its limit; absent before the first answer.',
    read: () => tracker.quota()?.remaining,
  });
  gauge(registry, {
    name: 'trackport_tracker_quota_limit',
    help: "The tracker's limit of calls per hour; absent before the first answer.",
    read: () => tracker.quota()?.limit,
  });
  gauge(registry, {
    name: 'trackport_clock_skew_seconds',
    help: "How far the tracker's clock is ahead of this machine's, less than zero: behind; absent before its first answer.",
    read: () => toSeconds(clockSkewMs()),
  });
  gauge(registry, {
    name: 'trackport_lead_cache_bytes',
    help: 'Estimated memory of cached answers of the tracker.',
    read: cacheBytes,
  });
}

/** Shows how many listen to the lead feed, and how soon items reach them. Returns a count of items. */
export function leadFeedMetrics(
  registry: Registry,
  { listeners }: { listeners: () => number },
): (lagMs?: number) => void {
  gauge(registry, {
    name: 'trackport_lead_feed_listeners',
    help: 'Streams of the lead feed that are open.',
    read: listeners,
  });
  const items = new Counter({
    name: 'trackport_lead_feed_items_total',
    help: 'Items of the lead feed that were sent, on streams and in pages.',
    registers: [registry],
  });
  const lag = new Histogram({
    name: 'trackport_lead_feed_lag_seconds',
    help: 'Time from a change to its item, on streams that had all before it.',
    buckets: [0.05, 0.25, 1, 5, 15, 60, 300],
    registers: [registry],
  });
  return (lagMs) => {
    items.inc();
    if (lagMs !== undefined) lag.observe(lagMs / SECOND);
  };
}

/** Returns a count of gaps. */
export function instanceChangeMetrics(registry: Registry): () => void {
  const gaps = new Counter({
    name: 'trackport_change_feed_gaps_total',
    help: 'Times that changes of other instances were missed, so that all leads in memory became stale.',
    registers: [registry],
  });
  return () => gaps.inc();
}

/** Counts what the log lost. */
export function logMetrics(
  registry: Registry,
  { droppedLines }: { droppedLines: () => number },
): void {
  let counted = 0;
  void new Counter({
    name: 'trackport_log_lines_dropped_total',
    help: 'Log lines that could not be written: no reader, no room in its pipe, or no space.',
    registers: [registry],
    collect() {
      const now = droppedLines();
      this.inc(now - counted);
      counted = now;
    },
  });
}

/** Shows operators the state of deletions: an erasure that waits for a day is a reason to get up. */
export function workerMetrics({
  registry,
  partners,
  clock,
}: {
  registry: Registry;
  partners: Pick<Partners, 'workerStatus'>;
  clock: Pick<Clock, 'now'>;
}): void {
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
      'Partners whose events wait, since the configuration of the instance that works lacks them.',
      ({ lackedPartners }) => lackedPartners.length,
    ],
    [
      'trackport_worker_active',
      '1 in the instance that works, 0 in one that stands by for it.',
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
    });
}

/** Shows for how long each partner is silent that is expected to send. */
export function silenceMetric(
  registry: PartnerRegistry,
  partners: Partners,
  clock: Pick<Clock, 'now'>,
): void {
  createPartnerGauge(registry, {
    name: 'trackport_partner_silent_seconds',
    help: 'Time since the last delivery of a partner that has sent nothing for longer than expected; 0 while all is well.',
    read: async () => {
      const now = clock.now();
      return [...(await partners.silences())].map(([id, since = now]) => [
        id,
        (now - since) / SECOND,
      ]);
    },
  });
}

/** Counts what became of partners' events; by partner only where partners may be named. */
export function outcomeMetrics(partners: PartnerRegistry): OutcomeCounter {
  const settled = outcomes.filter((outcome) => outcome !== 'PENDING');
  const add = createPartnerCounter(partners, {
    name: 'trackport_partner_events_total',
    help: 'Events of partners that were settled, by path and outcome.',
    labelNames: ['path', 'outcome'],
    known: partnerPaths.flatMap((path) => settled.map((outcome) => ({ path, outcome }))),
  });
  return ({ partnerId, path, outcome }, events) => add(partnerId, { path, outcome }, events);
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / SECOND;
}

type Reading = {
  name: string;
  help: string;
  read: () => number | undefined | Promise<number | undefined>;
};

/** A gauge that is read when it is collected; without a value it is absent. */
function gauge(registry: Registry, { name, help, read }: Reading): void {
  void new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      if (value === undefined) this.remove(); // a reset would make it 0
      else this.set(value);
    },
  });
}
