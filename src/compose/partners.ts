import { createSecretKey } from 'node:crypto';

import { createIssueEditor } from '#adapters/github/editing/issue-editor.ts';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createReceiptStore } from '#adapters/sqlite/receipt/receipt-store.ts';
import { createWorkStore } from '#adapters/sqlite/work/work-store.ts';
import { createWorkerLock } from '#adapters/sqlite/work/worker-lock.ts';
import type { BodyReaders } from '#adapters/threads/body-readers.ts';
import { createLimiter } from '#access/limit.ts';
import type { Config } from '#config/schema.ts';
import type { FixedConfig } from '#config/take-over.ts';
import { authenticateBearer } from '#http/auth/authorize-bearer.ts';
import type { PartnerRoutesDeps } from '#http/routes/partners/routes.ts';
import type { ReceiptRoutesDeps } from '#http/routes/receipts/routes.ts';
import { createDirectoryFiller, type DirectoryFiller } from '#leads/directory/fill-directory.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import { acceptDelivery } from '#partners/intake/accept-delivery.ts';
import { createBackgroundWork, type BackgroundWork } from '#partners/worker/background-work.ts';
import { createPartner, createPartners, type Partners } from '#partners/partner.ts';
import { createPayloadSealer } from '#partners/receipts/payload.ts';
import { createOutcomeReporter, type OutcomeReporter } from '#partners/receipts/report-outcomes.ts';
import { readStatus } from '#partners/receipts/read-status.ts';
import { createStatusTokens } from '#partners/receipts/status-token.ts';
import { createReceiptPurger } from '#partners/receipts/purge-receipts.ts';
import { refuseUnread, verifyCall } from '#partners/intake/verify-request.ts';
import type { ReceiptStore } from '#partners/receipts/receipt-store.ts';
import {
  createDeletionWorker,
  type DeletionWorker,
  type WorkerStatus,
} from '#partners/worker/worker.ts';
import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createTimedIds, newUuid } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import type { Reloadable } from '#shared/reloadable.ts';
import type { Registry } from 'prom-client';

import type { Identity } from './identity.ts';
import type { Store } from './store.ts';
import type { TrackerParts } from './tracker/parts.ts';
import { outcomeMetrics, workerMetrics } from './telemetry/worker-metrics.ts';

/** Partner intake, the lead directory that matching needs, and the worker. */
export type PartnerArea = {
  routes: PartnerRoutesDeps;
  /** Reading receipts and replaying them. */
  receipts: Pick<ReceiptRoutesDeps, 'read' | 'replay'>;
  filler: DirectoryFiller;
  worker: Pick<DeletionWorker, 'status'>;
  /** The worker, the crawl and the purge. */
  background: BackgroundWork;
  /** Whether the configuration in force names any. */
  hasPartners(): boolean;
  /** To be called after the settings were replaced: the first partner needs the directory. */
  onReload(): void;
};

export type PartnerAreaDeps = {
  config: FixedConfig;
  settings: Reloadable<Config>;
  rules: LeadRules;
  store: Store;
  tracker: TrackerParts;
  /** Checks the tokens of partners with `requireBearer`. */
  identity: Identity | undefined;
  bodies: Pick<BodyReaders, 'delivery'>;
  registry: Registry;
  clock: Clock;
  log: Log;
};

export function createPartnerArea(deps: PartnerAreaDeps): PartnerArea {
  const { config, settings, store, clock, registry, identity } = deps;
  const partners = settings.derive((current) =>
    createPartners(Object.entries(current.partners).map(([id, keys]) => createPartner(id, keys))),
  );
  const sealer = createPayloadSealer(deriveKey(store.secretKey, 'payloads'));
  const directoryKey = deriveKey(store.secretKey, 'directory');
  const receipts = createReceiptStore({
    database: store.database,
    sealer,
    repository: config.tracker.repository,
  });
  const tokens = createStatusTokens(deriveKey(store.secretKey, 'status'), clock);
  // Without a port of their own the metrics are public.
  const partnerMetrics = { registry, namesPartners: config.server.opsPort !== undefined };
  const reporter = createOutcomeReporter({ log: deps.log, count: outcomeMetrics(partnerMetrics) });
  const ingredients = { partners, sealer, directoryKey, reporter };
  const { filler, worker } = createWorkerParts(deps, ingredients);
  const background = createBackground(deps, { filler, worker, receipts });
  const toldWorker = tellOfStandby(worker, background);
  workerMetrics({ registry, worker: toldWorker, clock });
  const wakeWorker = (): void => worker.wake();
  const accepting = {
    store: receipts,
    readDelivery: deps.bodies.delivery,
    clock,
    newId: createTimedIds(clock),
    hashKey: createSecretKey(directoryKey),
    wakeWorker,
    reporter,
  };
  return {
    routes: {
      refuseUnread: (call) => refuseUnread({ partners: partners(), clock }, call),
      verify: (call) => verifyCall({ partners: partners(), clock }, call),
      accept: (delivery) => store.writes.watch(acceptDelivery(accepting, delivery)),
      status: {
        tokenOf: (receipt) => tokens.seal(receipt),
        read: (token) => readStatus({ store: receipts, tokens, clock }, token),
      },
      checkBearer: identity
        ? (request) => authenticateBearer(identity.verifier, request)
        : refuseBearer,
      limiter: createLimiter({ clock, limitPerMinute: Number.MAX_SAFE_INTEGER }),
      metrics: partnerMetrics,
    },
    receipts: {
      read: { store: receipts, cursors: store.cursors },
      replay: { store: receipts, clock, wakeWorker },
    },
    filler,
    worker: toldWorker,
    background,
    hasPartners: () => hasPartners(settings),
    onReload: () => {
      if (background.state() === 'working') fillForPartners(settings, filler);
    },
  };
}

function hasPartners(settings: Reloadable<Config>): boolean {
  return Object.keys(settings.current().partners).length > 0;
}

/** Without partners nothing is ever matched, and a crawl would spend quota for nothing. */
function fillForPartners(settings: Reloadable<Config>, filler: DirectoryFiller): void {
  if (hasPartners(settings)) filler.start();
}

type BackgroundParts = {
  filler: DirectoryFiller;
  worker: DeletionWorker;
  receipts: ReceiptStore;
};

function createBackground(
  { settings, store, clock, log }: PartnerAreaDeps,
  { filler, worker, receipts }: BackgroundParts,
): BackgroundWork {
  const purger = createReceiptPurger({ store: receipts, clock, log });
  return createBackgroundWork({
    lock: createWorkerLock(store.path),
    jobs: {
      start: async () => {
        await worker.start();
        fillForPartners(settings, filler);
        purger.start();
      },
      standBy: () => filler.readStatus(),
      stop: async () => {
        await Promise.all([worker.stop(), filler.stop(), purger.stop()]);
      },
    },
    clock,
    log,
  });
}

/** The worker of a process that stands by was never started, which would read as stopped. */
function tellOfStandby(worker: DeletionWorker, background: BackgroundWork) {
  return {
    status: async (): Promise<WorkerStatus> => {
      const status = await worker.status();
      return background.state() === 'standby' ? { ...status, state: 'standby' } : status;
    },
  };
}

type WorkerIngredients = {
  partners: () => Partners;
  sealer: ReturnType<typeof createPayloadSealer>;
  directoryKey: Buffer;
  reporter: OutcomeReporter;
};

function createWorkerParts(
  { config, settings, rules, store, tracker, bodies, clock, log }: PartnerAreaDeps,
  { partners, sealer, directoryKey, reporter }: WorkerIngredients,
): { filler: DirectoryFiller; worker: DeletionWorker } {
  const { database } = store;
  const { repository: name, writeInterval } = config.tracker;
  const directory = createLeadDirectory(database, { repository: name, now: () => clock.now() });
  const filler = createDirectoryFiller({
    tracker: tracker.leadTracker,
    directory,
    identifyRepository: () => tracker.repository.identify(),
    rules,
    key: directoryKey,
    clock,
    log,
  });
  const worker = createDeletionWorker({
    store: createWorkStore({ database, sealer, newId: newUuid, repository: name }),
    filler,
    editor: createIssueEditor({
      client: tracker.client,
      adminClient: tracker.adminClient,
      repository: tracker.repository,
      clock,
    }),
    partners: { all: () => partners().all() },
    readDelivery: bodies.delivery,
    rules: () => {
      const { deletedLabel, retry } = settings.current().deletions;
      const labels = { approved: config.leads.approvedLabel, deleted: deletedLabel };
      return { labels, retryMs: retry };
    },
    directoryKey,
    writeIntervalMs: writeInterval,
    clock,
    log,
    reporter,
    random: Math.random,
  });
  return { filler, worker };
}

/** The configuration refuses `requireBearer` without an issuer, so this is never a way in. */
function refuseBearer(): Promise<void> {
  return Promise.reject(new TrackportError('unauthorized', { challenge: 'Bearer' }));
}
