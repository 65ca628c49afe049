import { openDatabase as openPostgres } from '#adapters/postgres/connection/database.ts';
import type { Database as Postgres } from '#adapters/postgres/connection/database.ts';
import { createClaimStore as createPostgresClaims } from '#adapters/postgres/claims/claim-store.ts';
import { createLeadDirectory as createPostgresDirectory } from '#adapters/postgres/directory/lead-directory.ts';
import { readDirectoryView } from '#adapters/postgres/directory/view.ts';
import { createReceiptReader } from '#adapters/postgres/receipt/read.ts';
import { createReceiptReplayer } from '#adapters/postgres/receipt/replay.ts';
import { createClaimStore } from '#adapters/sqlite/claims/claim-store.ts';
import { openDatabase } from '#adapters/sqlite/connection/database.ts';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createReceiptStore } from '#adapters/sqlite/receipt/receipt-store.ts';
import type { Claims } from '#leads/claims/claim-store.ts';
import type { ReceiptStore } from '#partners/receipts/receipt-store.ts';
import { findLeads, REPOSITORY } from '../support/directory.ts';

/** The store of the instances, seen from another process. Dispose it after use. */
export type Findings = AsyncDisposable & {
  receipts: Pick<ReceiptStore, 'read' | 'replayAll'>;
  /** Whether the directory knows the lead. */
  knows(number: number): Promise<boolean>;
  findLeads(hash: Buffer): Promise<readonly number[]>;
  claims(): Promise<Claims>;
  /** Events without an outcome. */
  open(): Promise<number>;
  deadForWantOfPartner(): Promise<number>;
};

const DEAD = "SELECT count(*) AS dead FROM event WHERE outcome = 'FAILED'";

const scope = { repository: REPOSITORY };

/** @see Findings */
export function openSqliteFindings(file: string): Findings {
  const database = openDatabase({ path: file });
  const directory = createLeadDirectory(database, scope);
  const count = database.handle
    .prepare<[], number>("SELECT count(*) FROM event WHERE outcome = 'PENDING'")
    .pluck();
  const dead = database.handle
    .prepare<[], number>(`${DEAD} AND lastError = 'partner-unknown'`)
    .pluck();
  return {
    // Nothing is decrypted here.
    receipts: createReceiptStore({ database, payloadKey: Buffer.alloc(32), ...scope }),
    knows: (number) => directory.has(number),
    findLeads: async (hash) => findLeads(database, hash),
    claims: () => createClaimStore(database, scope).current(),
    open: async () => count.get() ?? 0,
    deadForWantOfPartner: async () => dead.get() ?? 0,
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/** The same of PostgreSQL, on a connection pool of its own. */
export function openPostgresFindings(url: string): Findings {
  const database = openPostgres({ url, connectionsMax: 2 });
  return { ...readPostgres(database), [Symbol.asyncDispose]: () => database.close() };
}

function readPostgres(database: Postgres): Omit<Findings, typeof Symbol.asyncDispose> {
  const directory = createPostgresDirectory(database, scope);
  const claims = createPostgresClaims(database, scope);
  return {
    receipts: { ...createReceiptReader(database), ...createReceiptReplayer(database) },
    knows: (number) => directory.has(number),
    findLeads: async (hash) => {
      const view = await readDirectoryView(database, REPOSITORY, [{ kind: 'email', hash }]);
      return view.find(hash);
    },
    claims: () => claims.current(),
    open: async () => {
      const row = await database.get<{ open: number }>(
        "SELECT count(*) AS open FROM event WHERE outcome = 'PENDING'",
      );
      return row?.open ?? 0;
    },
    deadForWantOfPartner: async () => {
      const sql = `${DEAD} AND last_error = 'partner-unknown'`;
      return (await database.get<{ dead: number }>(sql))?.dead ?? 0;
    },
  };
}
