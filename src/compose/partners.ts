import { createCertificateSigner } from '#adapters/jose/certificates.ts';
import { createIssueEditor } from '#adapters/github/issue-editor.ts';
import {
  createPartnerCounter,
  createPartnerGauge,
  type PartnerRegistry,
} from '#http/telemetry/partner-metrics.ts';
import { readRemovalReaders } from '#leads/lead-feed/removal-readers.ts';
import { createAcceptance } from '#partners/intake/write-deliveries.ts';
import { createPartners, type Partners, type PartnersSetup } from '#partners/index.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import { createTimedIds, newUuid } from '#shared/ids.ts';
import type { Base, App } from './app.ts';
import { toPartnerList } from './partner-list.ts';
import { directoryKeyOf } from './store.ts';
import type { Registry } from 'prom-client';
import { outcomes, partnerPaths } from '#partners/receipts/receipt.ts';
import type { OutcomeCounter } from '#partners/receipts/report-outcomes.ts';
import type { WorkerStatus } from '#partners/worker/worker.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { gauge } from './telemetry/metrics.ts';

type PartnersParts = Base &
  Pick<App, 'access' | 'leads' | 'tracker' | 'filler' | 'traffic' | 'hearing' | 'bodies'>;

/** Partners on the open store and the tracker, by whose clock they go. */
export function composePartners(parts: PartnersParts): Partners {
  const { registry, tracker, filler, traffic, hearing, bodies, tracing, log } = parts;
  const { clock } = tracker;
  const partners = createPartners({
    ...storePorts(parts),
    ...trackerPorts(parts),
    ...settingsPorts(parts),
    openReaders: () => openReaders(parts),
    filler,
    traffic,
    hearing,
    readDelivery: bodies.delivery,
    countOutcome: outcomeMetrics(partnerRegistry(parts)),
    newId: createTimedIds(clock),
    random: Math.random,
    tracing,
    clock,
    log,
  });
  workerMetrics({ registry, partners, clock });
  silenceMetric(partnerRegistry(parts), partners, clock);
  return partners;
}

/** Without a port of their own the metrics are public. */
export function partnerRegistry({ config, settings, registry }: Base): PartnerRegistry {
  return {
    registry,
    namesPartners: config.server.opsPort !== undefined,
    partnerIds: () => Object.keys(settings.current().partners),
  };
}

function storePorts({ config, store, clock }: Base) {
  const instance = newUuid();
  const { secretKey, cursors, database: db } = store;
  const sealer = createSealer(deriveKey(secretKey, 'payloads'));
  const repository = config.tracker.repository.toLowerCase();
  const accept = createAcceptance(db, { sealer, repository });
  return {
    accept: (delivery) => store.writes.watch(accept(delivery)),
    db,
    repository,
    instance,
    sealer,
    workerLease: store.workerLease(instance),
    cursors,
    statusKey: deriveKey(secretKey, 'status'),
    certificates: createCertificateSigner({
      seed: deriveKey(secretKey, 'certificates'),
      db: store.database,
      clock,
    }),
    directoryKey: directoryKeyOf(store),
  } satisfies Partial<PartnersSetup>;
}

/** Readers that were sent something a moment ago have it, before it is in the store. */
async function openReaders({ access, leads, store }: PartnersParts) {
  await leads.leadFeed.flushReads();
  const consumers = await access.leadGrants();
  return (numbers: readonly number[]) => readRemovalReaders(store.leads, numbers, consumers);
}

function trackerPorts({ config, tracker }: PartnersParts) {
  const { client, adminClient, repository, clock } = tracker;
  return {
    editor: createIssueEditor({ client, adminClient, repository, clock }),
    writeIntervalMs: config.tracker.writeInterval,
    latestCreation: () => tracker.latestCreation(),
    learnTime: () => tracker.learnTime(),
  } satisfies Partial<PartnersSetup>;
}

function settingsPorts({ config, settings }: Base) {
  return {
    partners: settings.derive(toPartnerList),
    rules: () => {
      const { deletedLabel, retry } = settings.current().deletions;
      const labels = { approved: config.leads.approvedLabel, deleted: deletedLabel };
      return { labels, retryMs: retry };
    },
  } satisfies Partial<PartnersSetup>;
}

type WorkerMetricsDeps = {
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

/** For how long each partner is silent that is expected to send. */
function silenceMetric(
  registry: PartnerRegistry,
  partners: Pick<Partners, 'silences'>,
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
