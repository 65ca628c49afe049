import { createCertificateSigner } from '#adapters/jose/certificates.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import type { Database } from '#shared/database.ts';
import { ownWork } from '#adapters/sqlite/service-lock.ts';
import { createPartners, type Partners } from '#partners/index.ts';
import type { Delivery } from '#partners/intake/accept-delivery.ts';
import { readDelivery } from '#partners/read-delivery.ts';
import { createHearing } from '#partners/silence.ts';
import { createPartner, createPartnerList, type PartnerSettings } from '#partners/partner.ts';
import { createSealer, type Sealer } from '#shared/crypto/sealer.ts';
import { createReceiptWriter } from '#partners/intake/write-receipts.ts';
import { settle } from '#partners/worker/lease-events.ts';
import { keepMatches, type NewMatch } from '#partners/worker/match/keep-matches.ts';
import type { Settlement, WorkItem } from '#partners/worker/work-item.ts';
import type { Acceptance, NewEvent, NewReceipt } from '#partners/intake/new-receipt.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock } from './clock.ts';
import { directoryKey, REPOSITORY } from './directory.ts';
import { temporaryDatabase } from './stores.ts';

/** Under which the payloads of events are sealed in every store of a test. */
const payloadKey = Buffer.alloc(32, 3);
export const sealer = createSealer(payloadKey);

/** The instance that works on the stores of a test. */
export const INSTANCE = 'a';

/** As the configuration has secrets. */
export function secretsOf(...values: string[]): { value: Secret }[] {
  return values.map((value) => ({ value: new Secret(value) }));
}

/** One partner of each scheme. */
const somePartners: Record<string, PartnerSettings> = {
  'crm-one': { scheme: 'hmac-sha256', secrets: secretsOf('s') },
  'crm-two': { scheme: 'signature-v3', secrets: secretsOf('s') },
};

/** The store as intake has it. */
export type ReceiptScope = { db: Database; accept: ReturnType<typeof createReceiptWriter> };

type Keyed = { repository?: string; key?: Buffer };

export function receiptsIn(
  db: Database,
  { repository = REPOSITORY, key = payloadKey }: Keyed = {},
): ReceiptScope {
  const scope = { sealer: createSealer(key), repository: repository.toLowerCase() };
  return { db, accept: createReceiptWriter(db, scope) };
}

/** The store as a worker has it. */
export type WorkScope = { db: Database; repository: string; instance: string; sealer: Sealer };

export function workIn(
  db: Database,
  {
    repository = REPOSITORY,
    key = payloadKey,
    instance = INSTANCE,
  }: Keyed & { instance?: string } = {},
): WorkScope {
  return { db, repository: repository.toLowerCase(), instance, sealer: createSealer(key) };
}

/** Keeps a match as the worker does. Undefined: the lease was lost. */
export async function keepMatch(
  { db, repository }: WorkScope,
  match: NewMatch,
): Promise<readonly number[] | undefined> {
  return (await db.exclusive((tx) => keepMatches(tx, repository, [match])))[0];
}

export function settleEvent(
  { db, repository }: WorkScope,
  item: WorkItem,
  settlement: Settlement,
  now: number,
) {
  return db.exclusive((tx) => settle(tx, repository, item, { ...settlement, now }));
}

/** Accepts a delivery of `crm-one` with one event that waits; returns the id of its receipt. */
export async function acceptEvent(
  receipts: Pick<ReceiptScope, 'accept'>,
  { at, ...event }: { at: number } & Pick<NewEvent, 'sameEventKey'> & Partial<NewEvent>,
  delivery: Partial<Pick<NewReceipt, 'traceparent' | 'path' | 'createdBefore' | 'events'>> = {},
): Promise<string> {
  const { receipt } = await receipts.accept({
    id: newUuid(),
    partnerId: 'crm-one',
    path: 'deletions',
    eventType: 'lead.deletion',
    correlationId: 'c',
    receivedAt: at,
    createdBefore: at,
    events: [
      {
        position: 0,
        outcome: 'PENDING',
        names: [],
        payload: Buffer.from('{}'),
        digest: Buffer.alloc(32),
        ...event,
      },
    ],
    ...delivery,
  });
  return receipt.id;
}

/** Stands for ports that a test does not need; whoever touches one finds out. */
const unserved = new Proxy(
  {},
  {
    get: (_target, name) => {
      throw new Error(`this test has no ${String(name)}`);
    },
  },
) as never;

export type PartnersOptions<D extends Database = SqliteDatabase> = Partial<
  Omit<Parameters<typeof createPartners>[0], 'partners' | 'repository'>
> & {
  /** Default: one of its own. */
  database?: D;
  /** `owner/name` as it is configured. */
  repository?: string;
  /** Default: `crm-one` and `crm-two`, one of each scheme. */
  partners?: Record<string, PartnerSettings>;
};

export type PartnersWorld<D extends Database = SqliteDatabase> = {
  partners: Partners;
  database: D;
  receipts: ReceiptScope;
  work: WorkScope;
  /** Accepts a delivery as the route does after it was verified; text and bytes go as they are. */
  deliver: (body: unknown, facts?: DeliveryFields) => Promise<Acceptance>;
};

type DeliveryFields = Partial<Omit<Delivery, 'partner' | 'body'>> & { from?: string };

/** Partners as the service makes them. Nothing works on events until a test starts them. */
export function buildPartners<D extends Database = SqliteDatabase>({
  database = temporaryDatabase() as Database as D,
  repository,
  partners: settings,
  ...ports
}: PartnersOptions<D> = {}): PartnersWorld<D> {
  const { clock = createFakeClock() } = ports;
  const receipts = receiptsIn(database, { ...(repository !== undefined && { repository }) });
  const work = workIn(database, { ...(repository !== undefined && { repository }) });
  const list = createPartnerList(
    Object.entries(settings ?? somePartners).map(([id, one]) => createPartner(id, one)),
  );
  const partners = createPartners({
    watchWrite: (write) => write,
    db: database,
    repository: work.repository,
    instance: INSTANCE,
    sealer,
    workerLease: ownWork,
    filler: unserved,
    latestCreation: () => clock.now(),
    learnTime: () => undefined,
    hearing: createHearing({ database, clock, log: silentLog }),
    traffic: { record: () => undefined, read: async () => [] },
    editor: unserved,
    readDelivery,
    rules: () => unserved,
    cursors: createCursorSealer(Buffer.alloc(32, 1)),
    directoryKey,
    statusKey: Buffer.alloc(32, 5),
    openReaders: async () => async () => undefined,
    certificates: createCertificateSigner({ seed: Buffer.alloc(32, 6), db: database, clock }),
    random: () => 0.5,
    countOutcome: () => undefined,
    writeIntervalMs: 0,
    clock,
    log: silentLog,
    ...ports,
    partners: () => list,
  });
  const deliver: PartnersWorld['deliver'] = (body, { from = 'crm-one', ...facts } = {}) => {
    const partner = list.find(from);
    if (!partner) throw new Error(`no partner ${from}`);
    return partners.accept({ partner, path: 'deletions', body: toBytes(body), ...facts });
  };
  return { partners, database, receipts, work, ...ports, deliver };
}

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
