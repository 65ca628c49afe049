import { onTestFinished } from 'vitest';
import type { Access } from '#access/index.ts';
import type { TokenPrincipal } from '#access/tokens.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { createReadRecord } from '#catalog/usage/record-reads.ts';
import {
  type Catalog,
  type CatalogOptions,
  type CatalogRules,
  createCatalog,
} from '#catalog/index.ts';
import { searchSqlite } from '#catalog/reading/search.ts';
import { silentLog } from '#shared/log.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import type { BearerApplication, HttpApp } from '#http/context.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { buildAccess } from './access.ts';
import { buildTestApp, type TestAppSetup } from './http/app.ts';
import { createFakeClock, type FakeClock } from './clock.ts';
import { temporaryDatabase } from './stores.ts';
import { bodyReaders, specThreads } from './threads.ts';

/** Configuration of a test. */
export const catalogRules: CatalogRules = {
  types: ['DASHBOARD'],
  sources: ['CRAWLER'],
  findings: 'block',
  compatibility: 'warn',
};

/** The catalog on `db`, else on one of its own. */
export function buildCatalog(
  facts: Partial<CatalogOptions> = {},
  db: SqliteDatabase = temporaryDatabase(),
): {
  catalog: Catalog;
  db: SqliteDatabase;
  clock: FakeClock;
} {
  const clock = createFakeClock();
  const catalog = createCatalog({
    db,
    search: searchSqlite,
    clock,
    cursors: createCursorSealer(Buffer.alloc(32, 1)),
    ...specThreads,
    usage: createReadRecord({ db, clock, log: silentLog }),
    rules: () => catalogRules,
    ...facts,
  });
  return { catalog, db, clock };
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
    as?: Partial<TokenPrincipal>;
  },
) => Promise<Reply>;

/** The catalog behind HTTP. Tokens are the principal itself as JSON: verification is not ours. */
export function openCatalogApp(
  facts: Partial<CatalogOptions> = {},
  database?: SqliteDatabase,
  server: TestAppSetup = {},
  services: Partial<BearerApplication> = {},
): {
  app: HttpApp;
  call: Call;
  clock: FakeClock;
  catalog: Catalog;
  db: SqliteDatabase;
  access: Access;
} {
  const { catalog, db, clock } = buildCatalog(facts, database);
  const access = buildAccess({ clock, database: db });
  const app = buildTestApp({
    clock,
    access,
    bearer: {
      catalog,
      readSpecBody: bodyReaders.specBody,
      idempotency: createIdempotency({ db, clock }),
      verifier,
      ...services,
    },
    ...server,
  });
  onTestFinished(() => app.close());
  return { app, call: createCall(app), clock, catalog, db, access };
}

const allScopes = ['catalog:read', 'catalog:write', 'catalog:publish'];

export const tokenFor = (facts: Partial<TokenPrincipal> = {}): string =>
  Buffer.from(
    JSON.stringify({
      subject: 'owner',
      clientId: 'tool',
      scopes: allScopes,
      workspaceId: 'default',
      ...facts,
    }),
  ).toString('base64url');

const verifier: BearerApplication['verifier'] = {
  verify: async (token) => JSON.parse(Buffer.from(token, 'base64url').toString()) as TokenPrincipal,
};

function createCall(app: HttpApp): Call {
  return async (method, path, { body, raw, headers = {}, as } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const reply = await app.inject({
      method,
      url: `/api/v1/catalog${path}`,
      headers: {
        authorization: `Bearer ${tokenFor(as)}`,
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    });
    const isJson = reply.body !== '' && /json/.test(String(reply.headers['content-type']));
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: isJson ? JSON.parse(reply.body) : undefined,
      text: reply.body,
    };
  };
}

/** The statuses of calls that were made at once, ascending. */
export function statusesOf(replies: readonly { status: number }[]): number[] {
  return replies.map(({ status }) => status).toSorted((left, right) => left - right);
}
