import { createSecretKey } from 'node:crypto';
import { expect, onTestFinished, vi } from 'vitest';
import { createTrackerClient } from '#adapters/github/transport/client.ts';
import { createIssueEditor } from '#adapters/github/editing/issue-editor.ts';
import { createLeadTracker } from '#adapters/github/lead-tracker.ts';
import { createRepository, parseRepositoryName } from '#adapters/github/repository.ts';
import { createClaimStore } from '#adapters/sqlite/claims/claim-store.ts';
import type { Database } from '#adapters/sqlite/database.ts';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createReceiptStore } from '#adapters/sqlite/receipt/receipt-store.ts';
import { createWorkStore } from '#adapters/sqlite/work/work-store.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import { acceptDelivery } from '#partners/intake/accept-delivery.ts';
import type { DeletionRules } from '#partners/deletions/act-on-event.ts';
import { createPartner, createPartnerList } from '#partners/partner.ts';
import type { Action, Partner } from '#partners/partner.ts';
import { createPayloadSealer } from '#partners/receipts/payload.ts';
import type { ReceiptDetail } from '#partners/receipts/receipt.ts';
import { createOutcomeReporter } from '#partners/receipts/report-outcomes.ts';
import type { OutcomeReporterDeps } from '#partners/receipts/report-outcomes.ts';
import { createDeletionWorker } from '#partners/worker/worker.ts';
import type { WorkerDeps } from '#partners/worker/worker.ts';
import { readDelivery } from '#partners/intake/read-delivery.ts';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { SECOND, systemClock } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { directoryKey, leadRules, REPOSITORY } from './directory.ts';
import { temporaryDatabase } from './stores.ts';

export const ADMIN = 'token-of-an-admin';
export const WRITER = 'token-of-a-writer';

export type DeskOptions = {
  tracker?: TrackerOptions;
  /** `owner/name`; default that of the tracker. */
  repository?: string;
  /** Runs against a tracker and a store that an earlier desk left behind. */
  of?: { tracker: Tracker; database: Database };
  token?: string;
  adminToken?: string;
  actions?: readonly Action[];
  privacy?: readonly Action[];
  clock?: Clock;
  log?: Log;
  count?: OutcomeReporterDeps['count'];
  worker?: Partial<
    Pick<
      WorkerDeps,
      'rules' | 'writeIntervalMs' | 'unmatchedWaitsMs' | 'missingLooksMs' | 'probeEveryMs'
    > &
      DeletionRules
  >;
  requestTimeoutMs?: number;
};

/** Everything behind the intake of partners, on a real store and a tracker over HTTP. */
export async function openDesk(options: DeskOptions = {}) {
  const { clock = systemClock, log = silentLog, token = WRITER, adminToken } = options;
  const { repository: repositoryName = REPOSITORY } = options;
  const tracker = options.of?.tracker ?? (await openTracker(options.tracker));
  const database = options.of?.database ?? temporaryDatabase();
  const wire = { apiUrl: tracker.url, clock, requestTimeoutMs: options.requestTimeoutMs ?? 2000 };
  const client = createTrackerClient({ ...wire, credential: { token: new Secret(token) } });
  const name = parseRepositoryName(repositoryName);
  const repository = createRepository({ client, clock, name });
  const adminClient =
    adminToken === undefined
      ? undefined
      : createTrackerClient({ ...wire, credential: { token: new Secret(adminToken) } });
  const editor = createIssueEditor({
    client,
    repository,
    clock,
    adminClient: () => adminClient,
  });
  const directory = createLeadDirectory(database, { repository: repositoryName });
  const filler = createDirectoryFiller({
    tracker: createLeadTracker({ client, repository }),
    directory,
    identifyRepository: async () => (await repository.read()).facts.id,
    rules: leadRules,
    key: directoryKey,
    clock,
    log,
  });
  const payloadKey = Buffer.alloc(32, 3);
  const sealer = createPayloadSealer(payloadKey);
  const receipts = createReceiptStore({ database, payloadKey, repository: repositoryName });
  const store = createWorkStore({ database, sealer, newId: newUuid, repository: repositoryName });
  const partners = createPartnerList(partnersOf(options));
  const {
    labels = { approved: 'approved', deleted: 'deleted-by-partner' },
    retryMs = [20, 20, 20, 20, 20, 20],
    ...workerOptions
  } = options.worker ?? {};
  const reporter = createOutcomeReporter({ log, count: options.count ?? (() => undefined) });
  const worker = createDeletionWorker({
    readDelivery,
    store,
    filler,
    editor,
    partners,
    rules: () => ({ labels, retryMs }),
    directoryKey,
    writeIntervalMs: 0,
    clock,
    log,
    reporter,
    random: () => 0.5,
    unmatchedWaitsMs: [20, 20],
    missingLooksMs: [20, 40],
    ...workerOptions,
  });
  const stop = async (): Promise<void> => {
    await worker.stop();
    await filler.stop();
  };
  onTestFinished(stop);
  const read = async (id: string): Promise<ReceiptDetail> => {
    const receipt = await receipts.read(id);
    if (!receipt) throw new Error('no such receipt');
    return receipt;
  };
  return {
    tracker,
    database,
    directory,
    filler,
    editor,
    receipts,
    store,
    worker,
    claims: createClaimStore(database, { repository: repositoryName }),
    stop,
    read,
    /** Starts, and waits for the first crawl. */
    start: async () => {
      filler.start();
      await vi.waitFor(() => expect(filler.status().state).toBe('complete'), {
        timeout: 10 * SECOND,
        interval: 2,
      });
      await worker.start();
    },
    /** Accepts a deletion as the route does after it verified the call. */
    send: (body: unknown, from = 'crm-one') =>
      acceptDelivery(
        {
          store: receipts,
          clock,
          newId: newUuid,
          hashKey: createSecretKey(directoryKey),
          readDelivery,
          reporter,
          wakeWorker: () => worker.wake(),
        },
        {
          partner: partners.find(from) ?? fail(),
          path: 'deletions',
          body: Buffer.from(JSON.stringify(body)),
        },
      ).then(({ receipt }) => receipt.id),
    /** The receipt once none of its events waits any more. */
    settled: (id: string): Promise<ReceiptDetail> =>
      vi.waitFor(
        async () => {
          const receipt = await read(id);
          expect(receipt.status).not.toBe('ACCEPTED');
          return receipt;
        },
        { timeout: 10 * SECOND, interval: 5 },
      ),
  };
}

export type Desk = Awaited<ReturnType<typeof openDesk>>;

function fail(): never {
  throw new Error('no such partner');
}

async function openTracker(options: TrackerOptions = {}): Promise<Tracker> {
  const tracker = await startTracker({
    repository: REPOSITORY,
    tokens: [
      { token: ADMIN, can: 'admin' },
      { token: WRITER, can: 'write' },
    ],
    ...options,
  });
  onTestFinished(() => tracker.close());
  return tracker;
}

function partnersOf({ actions, privacy }: DeskOptions): Partner[] {
  const secrets = [{ value: new Secret('s') }];
  const deletions = { ...(actions && { actions }), ...(privacy && { privacy }) };
  return [
    createPartner('crm-one', { scheme: 'hmac-sha256', secrets, deletions }),
    createPartner('crm-two', { scheme: 'signature-v3', secrets, deletions }),
  ];
}

export type LeadInput = {
  email?: string;
  correlationId?: string;
  externalIds?: Record<string, string>;
  message?: string;
};

/** An issue as the portal makes it: form and metadata block. */
export function leadIssue(input: LeadInput = {}) {
  const { email = 'ada@example.com', correlationId, externalIds = {} } = input;
  const metadata = [
    '<!-- trackport',
    ...(correlationId === undefined ? [] : [`correlationId: ${correlationId}`]),
    `externalIds: ${JSON.stringify(externalIds)}`,
    '-->',
  ];
  return {
    title: 'A lead',
    body: [
      '### First name',
      '',
      'Ada',
      '',
      '### Email',
      '',
      email,
      '',
      '### Message',
      '',
      input.message ?? 'Hello',
      '',
      ...metadata,
    ].join('\n'),
    author: 'acme-portal[bot]',
    labels: ['approved', 'eu'],
  };
}
