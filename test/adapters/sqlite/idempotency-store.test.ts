import { createIdempotencyStore } from '#adapters/sqlite/idempotency-store.ts';
import { describeIdempotencyStore } from '../../contract/idempotency-store.ts';
import { temporaryDatabase } from '../../support/stores.ts';

describeIdempotencyStore('SQLite', async (bounds) =>
  createIdempotencyStore(temporaryDatabase(), bounds),
);
