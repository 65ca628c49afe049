import type { Database, Statements } from '#shared/database.ts';
import { describeLeadDirectory } from '../../contract/lead-directory.ts';
import { claimLeads, leadStoreIn, findLeads, REPOSITORY } from '../../support/directory.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';

/** The lead, as matching knows it. */
async function identitiesOf(session: Statements, number: number) {
  const view = await readDirectoryView(session, REPOSITORY, [{ kind: 'lead-id', number }]);
  return view.identitiesOf(number);
}

/** As if all identities had been read by an older version of the rules. */
async function ageDirectory(session: Statements): Promise<void> {
  await session.run('UPDATE directory_key SET rule = rule - 1');
}

const fixtureOf = (database: Database) => ({
  directory: leadStoreIn(database),
  find: (hash: Buffer) => findLeads(database, hash),
  identitiesOf: (number: number) => identitiesOf(database, number),
  age: () => ageDirectory(database),
  claim: (number: number) => claimLeads(database, { numbers: [number] }),
});

describeLeadDirectory('SQLite', async () => fixtureOf(temporaryDatabase()));
describeLeadDirectory('PostgreSQL', async () => fixtureOf(await temporaryPostgres()));
