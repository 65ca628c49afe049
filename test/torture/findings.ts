import { openDatabase as openPostgres } from '#adapters/postgres/database.ts';
import { openDatabase as openSqlite } from '#adapters/sqlite/database.ts';
import type { Database } from '#shared/database.ts';
import type { Claims } from '#leads/claims/claim-view.ts';
import { createClaims } from '../support/claims.ts';
import { leadStoreIn, findLeads, isKnown } from '../support/directory.ts';

/** The store of the instances, seen from another process. Dispose it after use. */
export type Findings = AsyncDisposable & {
  db: Database;
  /** True when the directory knows the lead. */
  knows(number: number): Promise<boolean>;
  findLeads(hash: Buffer): Promise<readonly number[]>;
  claims(): Promise<Claims>;
  /** Events without an outcome. */
  open(): Promise<number>;
  deadForWantOfPartner(): Promise<number>;
};

const DEAD = "SELECT count(*) AS dead FROM event WHERE outcome = 'FAILED'";

export function openSqliteFindings(file: string): Findings {
  const database = openSqlite({ path: file });
  return { ...readFindings(database), [Symbol.asyncDispose]: async () => database.close() };
}

/** The same of PostgreSQL, on a connection pool of its own. */
export function openPostgresFindings(url: string): Findings {
  const database = openPostgres({ url, connectionsMax: 2 });
  return { ...readFindings(database), [Symbol.asyncDispose]: () => database.close() };
}

function readFindings(database: Database): Omit<Findings, typeof Symbol.asyncDispose> {
  const directory = leadStoreIn(database);
  const claims = createClaims(database);
  return {
    db: database,
    knows: (number) => isKnown(directory, number),
    findLeads: (hash) => findLeads(database, hash),
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
