import type { ReceiptStore } from '#partners/receipts/receipt-store.ts';
import type { Database } from '../connection/database.ts';
import { createReplayPreview } from './preview-replay.ts';
import { packDelivery, unpackAcceptance } from './packed-delivery.ts';
import { createReceiptReader } from './read.ts';
import { receiptWrites } from './write-family.ts';
import type { ReceiptWriteOptions } from './write-family.ts';

export type ReceiptStoreDeps = ReceiptWriteOptions & { database: Database };

/** Receipts in SQLite. */
export function createReceiptStore({ database, ...options }: ReceiptStoreDeps): ReceiptStore {
  const write = database.writer.open(receiptWrites, options);
  return {
    accept: async (delivery) =>
      unpackAcceptance(delivery, await write('accept', packDelivery(delivery))),
    replay: (id, entry) => write('replay', id, entry),
    replayAll: (filter, entry) => write('replayAll', filter, entry),
    acknowledge: (id, entry) => write('acknowledge', id, entry),
    purge: async (before) => ({
      keys: await untilNothing(() => write('forgetKeys', before)),
      payloads: await untilNothing(() => write('dropPayloads', before)),
    }),
    ...createReceiptReader(database.handle),
    ...createReplayPreview(database.handle),
  };
}

/** Repeats `work` until it changes nothing more; returns how much it changed in all. */
async function untilNothing(work: () => Promise<number>): Promise<number> {
  for (let sum = 0; ;) {
    const changes = await work();
    if (changes === 0) return sum;
    sum += changes;
  }
}
