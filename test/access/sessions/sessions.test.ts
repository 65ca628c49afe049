import { describeSessions } from '../../contract/sessions.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { connectTo, threadedDatabase } from '../../support/stores.ts';

describeSessions('SQLite, written by a thread', async () => {
  const database = threadedDatabase();
  return [database, connectTo(database.handle.name)];
});

describeSessions('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return [database, database];
});
