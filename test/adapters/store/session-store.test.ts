import { createSessionStore } from '#adapters/store/session-store.ts';
import { describeSessionStore } from '../../contract/session-store.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { connectTo, threadedDatabase } from '../../support/stores.ts';

describeSessionStore('SQLite, written by a thread', async () => {
  const database = await threadedDatabase();
  return [createSessionStore(database), createSessionStore(connectTo(database.handle.name))];
});

describeSessionStore('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return [createSessionStore(database), createSessionStore(database)];
});
