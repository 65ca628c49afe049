import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { createLimiter } from '#access/limit.ts';
import { refusedToken, type TokenPrincipal, type TokenVerifier } from '#access/tokens.ts';
import type { CatalogOptions } from '#catalog/index.ts';
import type { BearerApplication, HttpApp } from '#http/context.ts';
import { createReadRecord } from '#catalog/usage/record-reads.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import { silentLog } from '#shared/log.ts';
import { buildAccess } from './access.ts';
import { auditOf } from './audit.ts';
import { buildCatalog } from './catalog.ts';
import { claimedLeadsIn } from './claims.ts';
import { createFakeClock, type FakeClock } from './clock.ts';
import { REPOSITORY } from './directory.ts';
import { buildTestApp, type TestAppSetup } from './http/app.ts';
import { buildPartners, type PartnersOptions } from './partners.ts';
import { temporaryDatabase } from './stores.ts';
import { bodyReaders } from './threads.ts';

const console = { clientId: 'console', scopes: ['trackport:admin'], workspaceId: 'default' };
const catalogOwner = {
  scopes: ['catalog:read', 'catalog:write', 'catalog:publish'],
  workspaceId: 'default',
};

const principals: Readonly<Record<string, TokenPrincipal>> = {
  admin: { ...console, subject: 'operator-1' },
  'admin-2': { ...console, subject: 'operator-2' },
  owner: { ...catalogOwner, subject: 'owner-1' },
};

/** Knows the tokens `admin`, `admin-2` and `owner`, and those of `tokenFor`: verification is not ours. */
export const verifierOfNames: Pick<TokenVerifier, 'verify'> = {
  verify: async (token) => {
    const [, made] = /^made\.(.+)$/.exec(token) ?? [];
    const principal =
      made === undefined
        ? principals[token]
        : (JSON.parse(Buffer.from(made, 'base64url').toString()) as TokenPrincipal);
    if (!principal) throw refusedToken();
    return principal;
  },
};

/** A token of an owner of catalogs, but for these facts. */
export function tokenFor(facts: Partial<TokenPrincipal> = {}): string {
  const principal = { ...catalogOwner, subject: 'owner', clientId: 'tool', ...facts };
  return `made.${Buffer.from(JSON.stringify(principal)).toString('base64url')}`;
}

export type WorldOptions = Omit<PartnersOptions, 'clock'> & {
  clock?: FakeClock;
  catalog?: Partial<CatalogOptions>;
  /** In place of what the world has. */
  app?: TestAppSetup;
  bearer?: Partial<BearerApplication>;
  refusedPerMinute?: number;
};

export type World = ReturnType<typeof openWorld>;

/** The public server with all that it serves but leads, on one store and a clock that stands still; closed when the test ends. */
export function openWorld(options: WorldOptions = {}) {
  const { catalog: facts, app: others, bearer, refusedPerMinute = 300, ...ports } = options;
  const { database = temporaryDatabase(), clock = createFakeClock() } = ports;
  const metrics = new Registry();
  const access = buildAccess({ database, clock });
  const { catalog } = buildCatalog(
    { clock, usage: createReadRecord({ db: database, clock, log: silentLog }), ...facts },
    database,
  );
  const world = buildPartners({ ...ports, database, clock });
  const app = buildTestApp({
    clock,
    metrics,
    refusalLimiter: createLimiter({ clock, limitPerMinute: refusedPerMinute }),
    access,
    claimedLeads: claimedLeadsIn(database, { repository: REPOSITORY, clock }),
    partners: world.partners,
    partnerRegistry: { registry: metrics, namesPartners: true, partnerIds: () => [] },
    bearer: {
      verifier: verifierOfNames,
      catalog,
      readSpecBody: bodyReaders.specBody,
      idempotency: createIdempotency({ db: database, clock }),
      ...bearer,
    },
    ...others,
  });
  onTestFinished(() => app.close());
  return {
    ...world,
    app,
    clock,
    metrics,
    access,
    catalog,
    /** Oldest first. */
    auditOf: (subject: string) => auditOf(database, subject),
    /** With the token `admin`, unless the options name another or none. */
    call: createCall(app, '/api/v1', 'admin'),
    /** Of the catalog, as one of its owners. */
    callCatalog: createCall(app, '/api/v1/catalog', tokenFor()),
  };
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

function createCall(app: HttpApp, root: string, usual: string): Call {
  return async (method, path, { body, raw, headers = {}, as, token } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const sent = as ? tokenFor(as) : token === undefined ? usual : token;
    const reply = await app.inject({
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

/** The statuses of calls that were made at once, ascending. */
export function statusesOf(replies: readonly { status: number }[]): number[] {
  return replies.map(({ status }) => status).toSorted((left, right) => left - right);
}
