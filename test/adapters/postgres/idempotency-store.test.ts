import { createIdempotencyStore } from '#adapters/postgres/idempotency-store.ts';
import { describeIdempotencyStore } from '../../contract/idempotency-store.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';

describeIdempotencyStore('PostgreSQL', async (bounds) =>
  createIdempotencyStore(await temporaryPostgres(), bounds),
);
