import { expect, onTestFinished, test } from 'vitest';
import { withdrawClaims } from '#leads/claims/claim-leads.ts';
import type { PostgresDatabase } from '#adapters/postgres/database.ts';
import { migrate } from '#adapters/postgres/server.ts';
import { silentLog } from '#shared/log.ts';
import { createClaims } from '../../support/claims.ts';
import { describeClaims, type TestClaim } from '../../contract/claims.ts';
import { leadStoreIn, claimLeads } from '../../support/directory.ts';
import {
  connectToPostgres,
  emptyPostgres,
  migratedPostgres,
  type TestDatabase,
  cleanPostgres,
  newName,
  onServer,
} from '../../support/postgres/database.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { auditOf } from '../../support/audit.ts';
import { withDatabase } from '../../support/postgres/template.ts';

/**
 * Remembers what a database holds now. The function puts that in its place, as a failover to a server that
 * lagged does: all connections break, and what came since is not there.
 */
async function replaceBySnapshot({ url }: TestDatabase): Promise<() => Promise<void>> {
  const server = withDatabase(url, 'postgres');
  const [name, snapshot, former] = [new URL(url).pathname.slice(1), newName(), newName()];
  const disconnect = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`;
  await onServer(server, disconnect);
  await onServer(server, `CREATE DATABASE ${snapshot} TEMPLATE ${name}`);
  cleanPostgres({ url: server }, [`DROP DATABASE IF EXISTS ${former} WITH (FORCE)`]);
  return async () => {
    await onServer(server, disconnect);
    await onServer(server, `ALTER DATABASE ${name} RENAME TO ${former}`);
    await onServer(server, `ALTER DATABASE ${snapshot} RENAME TO ${name}`);
  };
}

const claimIn = (database: PostgresDatabase, claim: TestClaim): Promise<void> =>
  database.exclusive((tx) => claimLeads(tx, claim));

describeClaims('PostgreSQL', async () => {
  const own = await migratedPostgres();
  const database = await connectToPostgres(own);
  return {
    claimsOf: (repository) => createClaims(database, { repository }),
    directory: leadStoreIn(database),
    claim: (claim) => claimIn(database, claim),
    claimAndFail: (claim) =>
      database.exclusive(async (tx) => {
        await claimLeads(tx, claim);
        throw new Error('undo');
      }),
    withdraw: async (order) => {
      await database.exclusive((tx) => withdrawClaims(tx, order, { reason: 'unmatched', now: 0 }));
    },
    auditOf: (subject) => auditOf(database, subject),
    elsewhere: async () => {
      const other = await connectToPostgres(own);
      return {
        claim: (claim) => claimIn(other, claim),
        claims: createClaims(other),
      };
    },
    close: () => database.close(),
  };
});

test('claims made after a failover to a server that lagged are seen by who knew more', async () => {
  const own = await emptyPostgres();
  const database = await connectToPostgres(own);
  await migrate({ database, log: silentLog });
  await claimIn(database, { numbers: [1] });
  const claims = createClaims(database);
  const failOver = await replaceBySnapshot(own);
  await claimIn(database, { numbers: [2, 3], event: 2 });
  expect((await claims.current()).has(3)).toBe(true);
  await failOver();
  await claimIn(database, { numbers: [4, 5], event: 2 });
  const current = await claims.current();
  expect([1, 2, 3, 4, 5].filter((number) => current.has(number))).toEqual([1, 4, 5]);
});

test('all claims are read anew from a server that started since, which may be another one', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const database = await connectToPostgres(server);
  await migrate({ database, log: silentLog });
  await claimIn(database, { numbers: [1] });
  const claims = createClaims(database);
  expect((await claims.current()).has(1)).toBe(true);
  await server.halt();
  await server.start();
  // The standby that was promoted had not got the claim, and has another one by now.
  await database.exec(`ALTER TABLE claim DISABLE TRIGGER ALL; UPDATE claim SET number = 2`);
  const current = await claims.current();
  expect([1, 2].filter((number) => current.has(number))).toEqual([2]);
});
