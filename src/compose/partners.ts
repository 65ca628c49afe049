import { createIssueEditor } from '#adapters/github/issue-editor.ts';
import type { Config } from '#config/schema/schema.ts';
import type { PartnerRegistry } from '#http/telemetry/partner-metrics.ts';
import { createPartners, type Partners, type PartnersPorts } from '#partners/index.ts';
import { createPartner, createPartnerList, type PartnerList } from '#partners/partner.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createTimedIds } from '#shared/ids.ts';

import type { Ground, ServiceParts } from './parts.ts';
import { directoryKeyOf } from './store.ts';
import { outcomeMetrics, workerMetrics } from './telemetry/worker-metrics.ts';

type PartnersParts = Ground & Pick<ServiceParts, 'tracker' | 'filler' | 'traffic' | 'bodies'>;

/** Partners on the open store and the tracker, by whose clock they go. */
export function composePartners(parts: PartnersParts): Partners {
  const { registry, tracker, filler, traffic, bodies, tracing, log } = parts;
  const { clock } = tracker;
  const partners = createPartners({
    ...storePorts(parts),
    ...trackerPorts(parts),
    ...settingsPorts(parts),
    filler,
    traffic,
    readDelivery: bodies.delivery,
    countOutcome: outcomeMetrics(partnerRegistry(parts)),
    newId: createTimedIds(clock),
    random: Math.random,
    tracing,
    clock,
    log,
  });
  workerMetrics({ registry, partners, clock });
  return partners;
}

/** Without a port of their own the metrics are public. */
export function partnerRegistry({ config, settings, registry }: Ground): PartnerRegistry {
  return {
    registry,
    namesPartners: config.server.opsPort !== undefined,
    partnerIds: () => Object.keys(settings.current().partners),
  };
}

function storePorts({ store }: Ground) {
  const { stores, secretKey, cursors } = store;
  return {
    receipts: stores.receipts(),
    outcomeCounts: stores.outcomeCounts(),
    work: stores.work(),
    workerLease: stores.workerLease(),
    cursors,
    statusKey: deriveKey(secretKey, 'status'),
    directoryKey: directoryKeyOf(store),
  } satisfies Partial<PartnersPorts>;
}

function trackerPorts({ config, tracker }: PartnersParts) {
  const { client, adminClient, repository, clock } = tracker;
  return {
    editor: createIssueEditor({ client, adminClient, repository, clock }),
    writeIntervalMs: config.tracker.writeInterval,
    learnTime: () => tracker.learnTime(),
  } satisfies Partial<PartnersPorts>;
}

function settingsPorts({ config, settings }: Ground) {
  return {
    partners: settings.derive(toPartnerList),
    rules: () => {
      const { deletedLabel, retry } = settings.current().deletions;
      const labels = { approved: config.leads.approvedLabel, deleted: deletedLabel };
      return { labels, retryMs: retry };
    },
  } satisfies Partial<PartnersPorts>;
}

function toPartnerList({ partners }: Config): PartnerList {
  return createPartnerList(
    Object.entries(partners).map(([id, settings]) => createPartner(id, settings)),
  );
}
