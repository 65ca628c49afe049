import type { PayloadSealer } from '#partners/receipts/payload.ts';
import type { ReceiptStore } from '#partners/receipts/receipt-store.ts';
import type { Database } from '../database.ts';
import { createGroupCommit } from '../group-commit.ts';
import { createDeliveryWriter } from './write.ts';
import { createReceiptReader } from './read.ts';
import { createReceiptReplayer } from './replay.ts';

export type ReceiptStoreDeps = {
  database: Database;
  /** Encrypts the bytes of events. */
  sealer: PayloadSealer;
  /** `owner/name`, in any case: whose leads are claimed. */
  repository: string;
};

/** Receipts in SQLite. Deliveries in flight at the same time share one commit. */
export function createReceiptStore(deps: ReceiptStoreDeps): ReceiptStore {
  const { database } = deps;
  const writer = createDeliveryWriter(deps);
  return {
    accept: createGroupCommit(database, writer),
    ...createReceiptReader(database.handle),
    ...createReceiptReplayer(database),
  };
}
