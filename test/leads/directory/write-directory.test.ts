import type { Database } from '#shared/database.ts';
import { describeLeadDirectory } from '../../contract/lead-directory.ts';
import {
  ageDirectory,
  claimLeads,
  createLeadDirectory,
  findLeads,
  identitiesOf,
  REPOSITORY,
} from '../../support/directory.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';

const fixtureOf = (database: Database) => ({
  directory: createLeadDirectory(database, { repository: REPOSITORY }),
  find: (hash: Buffer) => findLeads(database, hash),
  identitiesOf: (number: number) => identitiesOf(database, number),
  age: () => ageDirectory(database),
  claim: (number: number) => claimLeads(database, { numbers: [number] }),
});

describeLeadDirectory('SQLite', async () => fixtureOf(temporaryDatabase()));
describeLeadDirectory('PostgreSQL', async () => fixtureOf(await temporaryPostgres()));
