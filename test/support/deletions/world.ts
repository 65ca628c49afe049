import { expect, onTestFinished } from 'vitest';
import { createIssueEditor } from '#adapters/github/issue-editor.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import type { DeletionRules } from '#partners/worker/act/act-on-event.ts';
import type { Action, EventRule, PartnerSettings } from '#partners/partner.ts';
import type { PartnerPath, ReceiptDetail } from '#partners/receipts/receipt.ts';
import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { MATCH_WAIT_MS } from '#partners/worker/match/find-leads.ts';
import { type Clock, MINUTE, systemClock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { createReloadable } from '#config/reload.ts';
import { createTracker } from '#compose/tracker.ts';
import { leadStoreIn, directoryKey, leadRules, matchedOnly, REPOSITORY } from '../directory.ts';
import { secretsOf } from '../partners.ts';
import { eventually } from '../eventually.ts';
import { temporaryDatabase } from '../stores.ts';
import { openTracker, WRITER } from './tracker.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';
import { openWorld, type WorldOptions } from '../world.ts';

export type DeletionOptions = {
  tracker?: TrackerOptions;
  /** `owner/name`; default that of the tracker. */
  repository?: string;
  /** Runs against a tracker and a store that an earlier world left behind. */
  of?: { tracker: Tracker; database: SqliteDatabase };
  token?: string;
  adminToken?: string;
  actions?: readonly Action[];
  privacy?: readonly Action[];
  /** Of each partner, by its id. */
  events?: Record<string, readonly EventRule[]>;
  /** Default: the system's, by which a tracker that responds does so in time. */
  clock?: Clock;
  log?: Log;
  count?: WorldOptions['countOutcome'];
  /** Ports of partners, and rules; the waits are short, for they pass on a real clock. */
  worker?: WorldOptions & Partial<DeletionRules>;
  requestTimeoutMs?: number;
  /** False: the partners leave the first crawl to the test, which starts `filler`. Default true. */
  isCrawling?: boolean;
};

/** The system's; but whatever responds at all does so in time: a machine that is busy is no tracker that is slow. */
const patientClock: Clock = {
  ...systemClock,
  sleep: (ms, options) => systemClock.sleep(ms === MATCH_WAIT_MS ? MINUTE : ms, options),
};

/** A look at this process costs next to nothing. */
const HERE_MS = 2;

/** Deletions of leads as the service works them off, on a real store and a tracker over HTTP. */
export async function openDeletions(options: DeletionOptions = {}) {
  const { log = silentLog, repository = REPOSITORY, worker = {} } = options;
  const { labels = { approved: 'approved', deleted: 'deleted-by-partner' } } = worker;
  const { retryMs = [20, 20, 20, 20, 20, 20] } = worker;
  const tracker = options.of?.tracker ?? (await openTracker(options.tracker));
  const database = options.of?.database ?? temporaryDatabase();
  const watched = createTracker({
    settings: createReloadable({ tracker: trackerSettings(tracker, options) }),
    clock: options.clock ?? patientClock,
    log,
  });
  const { clock } = watched;
  const editor = createIssueEditor(watched);
  const directory = leadStoreIn(database, { repository });
  const filler = createDirectoryFiller({
    ...matchedOnly,
    tracker: watched.leadTracker,
    identifyRepository: () => watched.repository.identify(),
    rules: leadRules,
    key: directoryKey,
    store: directory,
    clock,
    log,
  });
  const { partners, receipts, work, claims, deliver } = openWorld({
    rules: () => ({ labels, retryMs }),
    ...worker,
    timing: {
      unmatchedWaitsMs: [20, 20],
      missingLooksMs: [20, 40],
      replicaLagMs: 20,
      ...worker.timing,
    },
    database,
    repository,
    partners: partnersOf(options),
    filler: options.isCrawling === false ? { ...filler, start: () => undefined } : filler,
    editor,
    latestCreation: () => watched.latestCreation(),
    ...(options.count && { countOutcome: options.count }),
    clock,
    log,
  });
  onTestFinished(() => partners.stop());
  const send = async (body: unknown, from = 'crm-one', path?: PartnerPath): Promise<string> =>
    (await deliver(body, { from, ...(path && { path }) })).receipt.id;
  const read = async (id: string): Promise<ReceiptDetail> => {
    const receipt = await readReceipt(database, id);
    if (!receipt) throw new Error('no such receipt');
    return receipt;
  };
  return {
    tracker,
    /** By which the work is done. */
    clock,
    database,
    directory,
    filler,
    editor,
    partners,
    receipts,
    work,
    claims,
    stop: () => partners.stop(),
    read,
    /** Starts, and waits for the first crawl. */
    start: async () => {
      filler.start();
      await eventually(() => expect(filler.status().state).toBe('complete'), HERE_MS);
      await partners.start();
    },
    /** Accepts a deletion, or what else `path` says, as the route does after it verified the request; the receipt's id. */
    send,
    /** Has the worker look at once, as any delivery does: this one is of nobody. */
    wake: () => send({ email: `${newUuid()}@example.com` }),
    /** The receipt once none of its events waits any more. */
    settled: (id: string): Promise<ReceiptDetail> =>
      eventually(async () => {
        const receipt = await read(id);
        expect(receipt.status).not.toBe('ACCEPTED');
        return receipt;
      }, HERE_MS),
  };
}

export type DeletionWorld = Awaited<ReturnType<typeof openDeletions>>;

function trackerSettings(
  { url }: Tracker,
  {
    repository = REPOSITORY,
    token = WRITER,
    adminToken,
    requestTimeoutMs = 60_000,
  }: DeletionOptions,
) {
  return {
    repository,
    apiUrl: url,
    auth: { token: new Secret(token) },
    ...(adminToken !== undefined && { adminToken: new Secret(adminToken) }),
    webhookSecrets: [],
    writeInterval: 0,
    requestTimeout: requestTimeoutMs,
  };
}

function partnersOf({
  actions,
  privacy,
  events = {},
}: DeletionOptions): Record<string, PartnerSettings> {
  const secrets = secretsOf('s');
  const deletions = { ...(actions && { actions }), ...(privacy && { privacy }) };
  return {
    'crm-one': { scheme: 'hmac-sha256', secrets, deletions, events: events['crm-one'] },
    'crm-two': { scheme: 'signature-v3', secrets, deletions, events: events['crm-two'] },
  };
}
