import type { Database } from '#shared/database.ts';
import { describeLeadDirectory } from '../../contract/lead-directory.ts';
import {
  ageDirectory,
  claimLeads,
  leadStoreIn,
  findLeads,
  identitiesOf,
} from '../../support/directory.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';

const fixtureOf = (database: Database) => ({
  directory: leadStoreIn(database),
  find: (hash: Buffer) => findLeads(database, hash),
  identitiesOf: (number: number) => identitiesOf(database, number),
  age: () => ageDirectory(database),
  claim: (number: number) => claimLeads(database, { numbers: [number] }),
});

describeLeadDirectory('SQLite', async () => fixtureOf(temporaryDatabase()));
describeLeadDirectory('PostgreSQL', async () => fixtureOf(await temporaryPostgres()));
