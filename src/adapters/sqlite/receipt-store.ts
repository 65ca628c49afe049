import type { PayloadSealer } from '#partners/payload.ts';
import type { ReceiptStore } from '#partners/receipt-store.ts';
import type { Database } from './database.ts';
import { createGroupCommit } from './group-commit.ts';
import { createDeliveryWriter } from './receipt-writer.ts';
import { createReceiptReader } from './receipt-reader.ts';
import { createReceiptReplayer } from './receipt-replayer.ts';

export type ReceiptStoreDeps = {
  database: Database;
  /** Encrypts the bytes of events. */
  sealer: PayloadSealer;
};

/** Receipts in SQLite. Deliveries in flight at the same time share one commit. */
export function createReceiptStore({ database, sealer }: ReceiptStoreDeps): ReceiptStore {
  const writer = createDeliveryWriter(database.handle, sealer);
  return {
    accept: createGroupCommit(database, writer),
    ...createReceiptReader(database.handle),
    ...createReceiptReplayer(database),
  };
}
