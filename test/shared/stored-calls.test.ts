import { describeStoredCalls } from '../contract/stored-calls.ts';
import { temporaryPostgres } from '../support/postgres/database.ts';
import { threadedDatabase } from '../support/stores.ts';

describeStoredCalls('SQLite, written by a thread', async () => threadedDatabase());
describeStoredCalls('PostgreSQL', temporaryPostgres);
