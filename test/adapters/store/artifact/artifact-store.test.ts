import { searchVersions as searchPostgres } from '#adapters/postgres/search-versions.ts';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { createArtifactStore } from '#adapters/store/artifact/artifact-store.ts';
import { createIdempotencyStore } from '#adapters/store/idempotency-store.ts';
import { describeArtifactStore } from '../../../contract/artifact-store.ts';
import { createSqliteArtifacts } from '../../../support/catalog.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';
import { temporaryDatabase, threadedDatabase } from '../../../support/stores.ts';

const onFile = (database: Database) => ({
  store: createSqliteArtifacts(database),
  keys: createIdempotencyStore(database),
});

describeArtifactStore('SQLite', async () => onFile(temporaryDatabase()));

describeArtifactStore('SQLite, written by a thread', async () => onFile(await threadedDatabase()));

describeArtifactStore('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    store: createArtifactStore({ database, search: searchPostgres }),
    keys: createIdempotencyStore(database),
  };
});
