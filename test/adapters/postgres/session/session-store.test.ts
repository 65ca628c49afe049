import { createSessionStore } from '#adapters/postgres/session/session-store.ts';
import { describeSessionStore } from '../../../contract/session-store.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeSessionStore('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return [createSessionStore(database), createSessionStore(database)];
});
