import { searchPostgres, searchSqlite } from '#catalog/reading/search.ts';
import { describeUsage } from '../contract/catalog-usage.ts';
import { temporaryPostgres } from '../support/postgres/database.ts';
import { threadedDatabase } from '../support/stores.ts';

describeUsage('SQLite, written by a thread', async () => ({
  db: threadedDatabase(),
  search: searchSqlite,
}));

describeUsage('PostgreSQL', async () => ({
  db: await temporaryPostgres(),
  search: searchPostgres,
}));
