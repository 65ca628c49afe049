import { onTestFinished } from 'vitest';
import { createLimiter } from '#access/limit.ts';
import type { Access } from '#access/index.ts';
import { refusedToken, type TokenPrincipal, type TokenVerifier } from '#access/tokens.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import type { HttpApp } from '#http/context.ts';
import { type ReceiptScope } from '../../support/partners.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import { claimedLeadsIn } from '../claims.ts';
import { buildAccess } from '../access.ts';
import { buildTestApp } from './app.ts';
import { buildCatalog } from '../catalog.ts';
import { createFakeClock, type FakeClock } from '../clock.ts';
import { REPOSITORY } from '../directory.ts';
import { type WorkScope, buildPartners } from '../partners.ts';
import { temporaryDatabase } from '../stores.ts';
import { bodyReaders } from '../threads.ts';
import { auditOf } from '../audit.ts';
import type { AuditEntry } from '#shared/audit.ts';

const principals: Record<string, TokenPrincipal> = {
  admin: {
    subject: 'operator-1',
    clientId: 'console',
    scopes: ['trackport:admin'],
    workspaceId: 'default',
  },
  'admin-2': {
    subject: 'operator-2',
    clientId: 'console',
    scopes: ['trackport:admin'],
    workspaceId: 'default',
  },
  owner: {
    subject: 'owner-1',
    scopes: ['catalog:read', 'catalog:write', 'catalog:publish'],
    workspaceId: 'default',
  },
};

/** Knows the tokens `admin`, `admin-2` and `owner`; every other is refused. */
export const verifierOfNames: Pick<TokenVerifier, 'verify'> = {
  verify: async (token) => {
    const principal = principals[token];
    if (!principal) throw refusedToken();
    return principal;
  },
};

type Reply = {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: ReturnType<typeof JSON.parse>;
};

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type OperatorApp = {
  app: HttpApp;
  clock: FakeClock;
  database: SqliteDatabase;
  receipts: ReceiptScope;
  access: Access;
  /** Oldest first. */
  auditOf: (subject: string) => Promise<AuditEntry[]>;
  work: WorkScope;
  /** With the token `admin`, unless the options name another or none. */
  call: (method: Method, path: string, options?: CallOptions) => Promise<Reply>;
};

type CallOptions = { body?: unknown; token?: string | null; headers?: Record<string, string> };

type OperatorOptions = {
  /** Default: one of its own. */
  database?: SqliteDatabase;
};

/** The calls for operators, closed when the running test ends. */
export function openOperatorApp(options: OperatorOptions = {}): OperatorApp {
  const { database = temporaryDatabase() } = options;
  const clock = createFakeClock();
  const access = buildAccess({ database, clock });
  const { partners, receipts, work } = buildPartners({ database, clock });
  const refusalLimiter = createLimiter({ clock, limitPerMinute: 300 });
  const app = buildTestApp({
    clock,
    refusalLimiter,
    access,
    claimedLeads: claimedLeadsIn(database, { repository: REPOSITORY, clock }),
    partners,
    bearer: {
      verifier: verifierOfNames,
      catalog: buildCatalog({}, database).catalog,
      readSpecBody: bodyReaders.specBody,
      idempotency: createIdempotency({ db: database, clock }),
    },
  });
  onTestFinished(() => app.close());
  return {
    app,
    clock,
    database,
    receipts,
    access,
    auditOf: (subject) => auditOf(database, subject),
    work,
    call: createCall(app),
  };
}

function createCall(app: HttpApp): OperatorApp['call'] {
  return async (method, path, { body, token = 'admin', headers = {} } = {}) => {
    const reply = await app.inject({
      method,
      url: `/api/v1${path}`,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: reply.body === '' ? undefined : JSON.parse(reply.body),
    };
  };
}
