import { describeLeadDirectory } from '../../../contract/lead-directory.ts';
import {
  createLeadDirectory,
  ageDirectory,
  claimLeads,
  findLeads,
  identitiesOf,
  REPOSITORY,
} from '../../../support/directory.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

describeLeadDirectory('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    find: (hash) => findLeads(database, hash),
    identitiesOf: (number) => identitiesOf(database, number),
    age: () => ageDirectory(database),
    claim: (number) => claimLeads(database, { numbers: [number] }),
  };
});
