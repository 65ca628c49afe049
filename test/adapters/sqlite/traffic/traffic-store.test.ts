import { createTrafficStore } from '#adapters/sqlite/traffic/traffic-store.ts';
import { describeTrafficStore } from '../../../contract/traffic-store.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

describeTrafficStore('SQLite', async () => {
  const database = temporaryDatabase();
  return [createTrafficStore(database), createTrafficStore(connectTo(database.handle.name))];
});
