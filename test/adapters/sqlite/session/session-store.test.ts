import { createSessionStore } from '#adapters/sqlite/session/session-store.ts';
import { describeSessionStore } from '../../../contract/session-store.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

describeSessionStore('SQLite', async () => {
  const database = temporaryDatabase();
  return [createSessionStore(database), createSessionStore(connectTo(database.handle.name))];
});
