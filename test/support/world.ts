import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { createAccess } from '#access/index.ts';
import type { TokenPrincipal } from '#access/tokens.ts';
import { createCertificateSigner } from '#adapters/jose/certificates.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { ownWork } from '#partners/worker/background-work.ts';
import { type CatalogOptions, createCatalog } from '#catalog/index.ts';
import { searchSqlite } from '#catalog/reading/search.ts';
import { createReadRecord } from '#catalog/usage.ts';
import type { BearerUseCases, HttpApp } from '#http/context.ts';
import { createClaimView } from '#leads/claims/claim-view.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import { createLeads } from '#leads/index.ts';
import { noOthers } from '#leads/instance-changes.ts';
import { createPartners } from '#partners/index.ts';
import type { Acceptance, Delivery } from '#partners/intake/accept-delivery.ts';
import { createPartner, createPartnerList, type PartnerSettings } from '#partners/partner.ts';
import { readDelivery } from '#partners/read-delivery.ts';
import { createHearing } from '#partners/silence.ts';
import type { PortalRoute } from '#portal/routes/page-route.ts';
import { type Clock, HOUR, SECOND, type TrackerTime } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { auditOf } from './audit.ts';
import { catalogRules } from './catalog.ts';
import { createClaims } from './claims.ts';
import { createFakeClock, type FakeClock } from './clock.ts';
import { directoryKey, leadRules, leadStoreIn, REPOSITORY } from './directory.ts';
import { buildTestApp, type TestAppSetup } from './http/app.ts';
import { INSTANCE, receiptsIn, sealer, secretsOf, workIn } from './partners.ts';
import { openPortal, type PortalThings } from './portal/portal.ts';
import { temporaryDatabase } from './stores.ts';
import { bodyReaders, specThreads } from './threads.ts';
import { tokenFor, verifierOfNames } from './tokens.ts';
import { keyOf } from './keys.ts';

/** One partner of each scheme. */
const somePartners: Record<string, PartnerSettings> = {
  'crm-one': { scheme: 'hmac-sha256', secrets: secretsOf('s') },
  'crm-two': { scheme: 'signature-v3', secrets: secretsOf('s') },
};

/** In place of what the world has; ports of partners stand beside the rest. */
export type WorldOptions<
  D extends Database = SqliteDatabase,
  C extends Clock = FakeClock,
> = Partial<Omit<Parameters<typeof createPartners>[0], 'partners' | 'clock'>> & {
  database?: D;
  clock?: C;
  partners?: Record<string, PartnerSettings>;
  access?: Partial<Parameters<typeof createAccess>[0]>;
  catalog?: Partial<CatalogOptions>;
  leads?: Partial<Parameters<typeof createLeads>[0]>;
  app?: TestAppSetup;
  bearer?: Partial<BearerUseCases>;
  refusedPerMinute?: number;
  /** Pages of a portal, in place of none, and what they work on in place of what the world has. */
  pages?: readonly PortalRoute[];
  context?: PortalThings;
};

export type World = ReturnType<typeof openWorld<SqliteDatabase, FakeClock>>;

/** Stands for ports that a test does not need; whoever touches one finds out. */
const unserved = new Proxy(
  {},
  {
    get: (_target, name) => {
      throw new Error(`this test has no ${String(name)}`);
    },
  },
) as never;

/** Makes it when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: { of: T } | undefined;
  return () => (made ??= { of: make() }).of;
}

/**
 * A service by the factories that it is composed of, on one store and a clock that stands still. Each part is made when
 * it is first asked for, and closed when the running test ends. Nothing works on events until a test starts it, and
 * there is no tracker but the one that a test brings.
 */
export function openWorld<D extends Database = SqliteDatabase, C extends Clock = FakeClock>(
  options: WorldOptions<D, C> = {},
) {
  const { access: ofAccess, catalog: ofCatalog, leads: ofLeads, app: others, bearer } = options;
  const { database = temporaryDatabase() as Database as D, repository = REPOSITORY } = options;
  const { clock = createFakeClock() as Clock as C, log = silentLog } = options;
  const trackerTime = clock as Clock as TrackerTime;
  const metrics = new Registry();
  const cursors = createCursorSealer(keyOf(1));
  const ground = { db: database, clock: trackerTime, cursors, log };
  const store = leadStoreIn(database, { repository, now: () => clock.now() });
  const claimedLeads: ClaimedLeads = { ...store, cursors };
  const leads = once(() =>
    createLeads({
      ...ground,
      store,
      tracker: unserved,
      claimView: createClaimView(store),
      filler: {
        identify: async () => undefined,
        apply: () => undefined,
        takeRead: () => undefined,
        settled: async () => undefined,
      },
      instanceChanges: noOthers,
      directoryKey,
      rules: leadRules,
      freshForMs: 15 * SECOND,
      staleIfErrorMs: HOUR,
      cacheBytesMax: 64 * 1024 * 1024,
      ...ofLeads,
    }),
  );
  const access = once(() => {
    const limitPerMinute = () => 600;
    const made = createAccess({ ...ground, newId: newUuid, limitPerMinute, ...ofAccess });
    onTestFinished(() => made.close());
    return made;
  });
  const catalog = once(() =>
    createCatalog({
      ...ground,
      search: searchSqlite,
      ...specThreads,
      usage: createReadRecord(ground),
      rules: () => catalogRules,
      ...ofCatalog,
    }),
  );
  const list = createPartnerList(
    Object.entries(options.partners ?? somePartners).map(([id, one]) => createPartner(id, one)),
  );
  const partners = once(() =>
    createPartners({
      ...ground,
      watchWrite: (write) => write,
      instance: INSTANCE,
      sealer,
      workerLease: ownWork,
      filler: unserved,
      latestCreation: () => clock.now(),
      earliestNow: () => clock.now(),
      learnTime: () => undefined,
      hearing: createHearing({ database, clock: trackerTime, log }),
      traffic: { record: () => undefined, read: async () => [] },
      editor: unserved,
      readDelivery,
      rules: () => unserved,
      directoryKey,
      statusKey: keyOf(5),
      openReaders: async () => async () => undefined,
      certificates: createCertificateSigner({ seed: keyOf(6), db: database, clock }),
      random: () => 0.5,
      countOutcome: () => undefined,
      writeIntervalMs: 0,
      ...options,
      clock: trackerTime,
      repository: repository.toLowerCase(),
      partners: () => list,
    }),
  );
  const portal = once(() => {
    const { clock: given, pages = [], context } = options;
    const clockOfSessions = given ? createFakeClock() : (clock as Clock as FakeClock);
    return openPortal({ database, clock: clockOfSessions, log, pages, context, app });
  });
  const app: () => HttpApp = once(() => {
    const made = buildTestApp({
      clock,
      metrics,
      log,
      refusedPerMinute: options.refusedPerMinute ?? 300,
      access: access(),
      leads: leads(),
      claimedLeads,
      partners: partners(),
      partnerRegistry: { registry: metrics, namesPartners: true, partnerIds: () => [] },
      bearer: {
        verifier: verifierOfNames,
        catalog: catalog(),
        readSpecBody: bodyReaders.specBody,
        idempotency: createIdempotency({ db: database, clock }),
        ...bearer,
      },
      ...(options.pages && { portal: portal().area }),
      ...others,
    });
    onTestFinished(() => made.close());
    return made;
  });
  return {
    database,
    clock,
    metrics,
    claimedLeads,
    claims: createClaims(database, { repository }),
    directory: store,
    receipts: receiptsIn(database, { repository }),
    work: workIn(database, { repository }),
    get leads() {
      return leads();
    },
    get access() {
      return access();
    },
    get catalog() {
      return catalog();
    },
    get partners() {
      return partners();
    },
    get app() {
      return app();
    },
    get portal() {
      return portal();
    },
    /** Accepts a delivery as the route does after it was verified; text and bytes go as they are. */
    deliver: (
      body: unknown,
      { from = 'crm-one', ...facts }: DeliveryFields = {},
    ): Promise<Acceptance> => {
      const partner = list.find(from);
      if (!partner) throw new Error(`no partner ${from}`);
      return partners().accept({ partner, path: 'deletions', body: toBytes(body), ...facts });
    },
    /** Oldest first. */
    auditOf: (subject: string) => auditOf(database, subject),
    /** With the token `admin`, unless the options name another or none. */
    call: createCall(app, '/api/v1', 'admin'),
    /** Of the catalog, as one of its owners. */
    callCatalog: createCall(app, '/api/v1/catalog', tokenFor()),
  };
}

/** A world with a portal of these pages, as a browser comes to it. */
export function startPortal(pages: readonly PortalRoute[] = [], options: WorldOptions = {}) {
  const { app, portal } = openWorld({ ...options, pages });
  return { app, ...portal };
}

type DeliveryFields = Partial<Omit<Delivery, 'partner' | 'body'>> & { from?: string };

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

type Reply = {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: ReturnType<typeof JSON.parse>;
  text: string;
};

export type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD',
  path: string,
  options?: {
    body?: unknown;
    raw?: string | Buffer;
    headers?: Record<string, string>;
    token?: string | null;
    as?: Partial<TokenPrincipal>;
  },
) => Promise<Reply>;

function createCall(app: () => HttpApp, root: string, usual: string): Call {
  return async (method, path, { body, raw, headers = {}, as, token } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const sent = as ? tokenFor(as) : token === undefined ? usual : token;
    const reply = await app().inject({
      method,
      url: `${root}${path}`,
      headers: {
        ...(sent !== null && { authorization: `Bearer ${sent}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    });
    const { statusCode: status, headers: received, body: text } = reply;
    const isJson = text !== '' && /json/.test(String(received['content-type']));
    return { status, headers: received, body: isJson ? JSON.parse(text) : undefined, text };
  };
}
