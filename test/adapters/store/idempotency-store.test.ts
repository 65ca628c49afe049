import { createIdempotencyStore } from '#shared/idempotency-store.ts';
import { describeIdempotencyStore } from '../../contract/idempotency-store.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { threadedDatabase } from '../../support/stores.ts';

describeIdempotencyStore('SQLite, written by a thread', async (bounds) =>
  createIdempotencyStore(await threadedDatabase(), bounds),
);

describeIdempotencyStore('PostgreSQL', async (bounds) =>
  createIdempotencyStore(await temporaryPostgres(), bounds),
);
