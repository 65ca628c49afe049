import { createAcceptance } from '#partners/intake/write-deliveries.ts';
import { listReceipts, readReceipt } from '#partners/receipts/read-receipts.ts';
import type { ReceiptFilter } from '#partners/receipts/receipt-conditions.ts';
import {
  acknowledge,
  previewReplay,
  replay,
  replayAll,
} from '#partners/receipts/replay-receipts.ts';
import { purgeReceipts } from '#partners/receipts/purge-receipts.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import type { Database } from '#shared/database.ts';
import { REPOSITORY } from './directory.ts';

/** Under which the payloads of events are sealed in every store of a test. */
export const payloadKey = Buffer.alloc(32, 3);

export type StoredReceipts = ReturnType<typeof receiptsIn>;

/** Acceptance, and all that is read and done with receipts, on one store. */
export function receiptsIn(
  db: Database,
  { repository = REPOSITORY, key = payloadKey }: { repository?: string; key?: Buffer } = {},
) {
  const sealer = createSealer(key);
  return {
    accept: createAcceptance(db, { sealer, repository: repository.toLowerCase() }),
    list: (filter: ReceiptFilter, limit: number, after?: number) =>
      listReceipts(db, filter, limit, after),
    read: (id: string) => readReceipt(db, id),
    replay: (id: string, entry: AuditEntry) => db.exclusive((tx) => replay(tx, id, entry)),
    replayAll: (filter: ReceiptFilter, entry: AuditEntry) =>
      db.exclusive((tx) => replayAll(tx, filter, entry)),
    acknowledge: (id: string, entry: AuditEntry) =>
      db.exclusive((tx) => acknowledge(tx, id, entry)),
    previewReplay: (filter: ReceiptFilter) => previewReplay(db, filter),
    purge: (before: number) => purgeReceipts(db, before),
  };
}
