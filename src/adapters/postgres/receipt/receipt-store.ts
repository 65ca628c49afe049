import type { Acceptance, NewReceipt, ReceiptStore } from '#partners/receipts/receipt-store.ts';
import type { Database } from '../connection/database.ts';
import type { GroupCommit } from '../group-commit.ts';
import { createReceiptReader } from './read.ts';
import { createReceiptReplayer } from './replay.ts';
import { countTogether, writeDeliveries } from './write.ts';
import type { DeliveryWriterDeps } from './write.ts';

export type ReceiptStoreDeps = DeliveryWriterDeps & {
  database: Database;
  /** Shared with the worker's store. */
  groupCommit: GroupCommit;
};

/** Receipts in PostgreSQL. Deliveries in flight at the same time share one commit. */
export function createReceiptStore({
  database,
  groupCommit,
  ...deps
}: ReceiptStoreDeps): ReceiptStore {
  return {
    accept: groupCommit.open<NewReceipt, Acceptance>({
      write: (session, deliveries) => writeDeliveries(session, deliveries, deps),
      countTogether,
    }),
    ...createReceiptReader(database),
    ...createReceiptReplayer(database),
  };
}
