import type { Acceptance, NewReceipt, ReceiptStore } from '#partners/receipts/receipt-store.ts';
import type { Database } from '../database.ts';
import { createGroupCommit } from '../group-commit.ts';
import { createReceiptReader } from './read.ts';
import { createReceiptReplayer } from './replay.ts';
import { countTogether, writeDeliveries } from './write.ts';
import type { DeliveryWriterDeps } from './write.ts';

export type ReceiptStoreDeps = DeliveryWriterDeps & { database: Database };

/** Receipts in PostgreSQL. Deliveries in flight at the same time share one commit. */
export function createReceiptStore({ database, ...deps }: ReceiptStoreDeps): ReceiptStore {
  return {
    accept: createGroupCommit<NewReceipt, Acceptance>({
      database,
      write: (session, deliveries) => writeDeliveries(session, deliveries, deps),
      countTogether,
    }),
    ...createReceiptReader(database),
    ...createReceiptReplayer(database),
  };
}
