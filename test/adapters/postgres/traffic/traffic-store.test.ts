import { createTrafficStore } from '#adapters/postgres/traffic/traffic-store.ts';
import { describeTrafficStore } from '../../../contract/traffic-store.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeTrafficStore('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return [createTrafficStore(database), createTrafficStore(database)];
});
