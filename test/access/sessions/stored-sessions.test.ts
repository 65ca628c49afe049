import { describeStoredSessions } from '../../contract/stored-sessions.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { connectTo, threadedDatabase } from '../../support/stores.ts';

describeStoredSessions('SQLite, written by a thread', async () => {
  const database = threadedDatabase();
  return [database, connectTo(database.handle.name)];
});

describeStoredSessions('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return [database, database];
});
