import { createTrafficStore } from '#adapters/store/traffic-store.ts';
import { describeTrafficStore } from '../../contract/traffic-store.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { connectTo, threadedDatabase } from '../../support/stores.ts';

describeTrafficStore('SQLite, written by a thread', async () => {
  const database = await threadedDatabase();
  return [createTrafficStore(database), createTrafficStore(connectTo(database.handle.name))];
});

describeTrafficStore('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return [createTrafficStore(database), createTrafficStore(database)];
});
