import { describeLeadDirectory } from '../../../contract/lead-directory.ts';
import {
  createLeadDirectory,
  ageDirectory,
  claimLeads,
  findLeads,
  identitiesOf,
  REPOSITORY,
} from '../../../support/directory.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeLeadDirectory('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    find: (hash) => findLeads(database, hash),
    identitiesOf: (number) => identitiesOf(database, number),
    age: () => ageDirectory(database),
    claim: (number) => claimLeads(database, { numbers: [number] }),
  };
});
