import { createIssueEditor } from '#adapters/github/editing/issue-editor.ts';
import type { BodyReaders } from '#adapters/threads/body-readers.ts';
import type { Config } from '#config/schema/schema.ts';
import type { FixedConfig } from '#config/take-over.ts';
import { authenticateBearer } from '#http/auth/authorize-bearer.ts';
import type { PartnerRoutesDeps } from '#http/routes/partners/routes.ts';
import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { createPartners, type Partners, type PartnersPorts } from '#partners/index.ts';
import { createPartner, createPartnerList, type PartnerList } from '#partners/partner.ts';
import type { Traffic } from '#partners/traffic/traffic.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { TrackportError } from '#shared/errors.ts';
import { createTimedIds } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import type { Reloadable } from '#shared/reloadable.ts';
import { traced, type Tracing } from '#shared/tracing.ts';
import type { Registry } from 'prom-client';

import type { Identity } from './identity/identity.ts';
import { directoryKeyOf, type Store } from './store.ts';
import { outcomeMetrics, workerMetrics } from './telemetry/worker-metrics.ts';
import type { TrackerParts } from './tracker/parts.ts';

export type PartnersDeps = {
  config: FixedConfig;
  settings: Reloadable<Config>;
  store: Store;
  tracker: TrackerParts;
  /** Fills the lead directory that matching needs. */
  filler: DirectoryFiller;
  traffic: Traffic;
  /** Checks the tokens of partners with `requireBearer`. */
  identity: Identity | undefined;
  bodies: Pick<BodyReaders, 'delivery'>;
  registry: Registry;
  tracing: Tracing | undefined;
  clock: Clock;
  log: Log;
};

/** Partners on the open store and the tracker, and what their routes need. */
export function composePartners(deps: PartnersDeps): {
  partners: Partners;
  routes: PartnerRoutesDeps;
} {
  const { config, registry, clock, identity } = deps;
  // Without a port of their own the metrics are public.
  const metrics = {
    registry,
    namesPartners: config.server.opsPort !== undefined,
    partnerIds: () => Object.keys(deps.settings.current().partners),
  };
  const partners = createPartners({
    ...storePorts(deps),
    ...trackerPorts(deps),
    ...settingsPorts(deps),
    filler: deps.filler,
    traffic: deps.traffic,
    readDelivery: deps.bodies.delivery,
    countOutcome: outcomeMetrics(metrics),
    newId: createTimedIds(clock),
    random: Math.random,
    tracing: deps.tracing,
    clock,
    log: deps.log,
  });
  workerMetrics({ registry, partners, clock });
  const checkBearer: PartnerRoutesDeps['checkBearer'] = identity
    ? (request) => authenticateBearer(identity.verifier, request)
    : refuseBearer;
  return { partners, routes: { partners, checkBearer, metrics } };
}

type StorePort =
  | 'receipts'
  | 'outcomeCounts'
  | 'work'
  | 'workerLock'
  | 'cursors'
  | 'statusKey'
  | 'directoryKey';

function storePorts({ store, tracing }: PartnersDeps): Pick<PartnersPorts, StorePort> {
  const { stores, secretKey, cursors, writes } = store;
  const receipts = stores.receipts();
  return {
    receipts: {
      ...receipts,
      accept: (receipt) =>
        traced(tracing, { name: 'commit delivery' }, () => writes.watch(receipts.accept(receipt))),
    },
    outcomeCounts: stores.outcomeCounts(),
    work: stores.work(),
    workerLock: stores.workerLock(),
    cursors,
    statusKey: deriveKey(secretKey, 'status'),
    directoryKey: directoryKeyOf(store),
  };
}

function trackerPorts({
  config,
  tracker,
  clock,
}: PartnersDeps): Pick<PartnersPorts, 'editor' | 'writeIntervalMs' | 'learnTime'> {
  const { client, adminClient, repository } = tracker;
  return {
    editor: createIssueEditor({ client, adminClient, repository, clock }),
    writeIntervalMs: config.tracker.writeInterval,
    learnTime: () => tracker.learnTime(),
  };
}

function settingsPorts({
  config,
  settings,
}: PartnersDeps): Pick<PartnersPorts, 'partners' | 'rules'> {
  return {
    partners: settings.derive(toPartnerList),
    rules: () => {
      const { deletedLabel, retry } = settings.current().deletions;
      const labels = { approved: config.leads.approvedLabel, deleted: deletedLabel };
      return { labels, retryMs: retry };
    },
  };
}

function toPartnerList({ partners }: Config): PartnerList {
  return createPartnerList(
    Object.entries(partners).map(([id, settings]) => createPartner(id, settings)),
  );
}

/** The configuration refuses `requireBearer` without an issuer, so this is never a way in. */
function refuseBearer(): Promise<void> {
  return Promise.reject(new TrackportError('unauthorized', { challenge: 'Bearer' }));
}
