import type { ReceiptStore } from '#partners/receipts/receipt-store.ts';
import { bindWrites, type StoreDatabase } from '../session.ts';
import type { WriteCheck } from '../write-check.ts';
import { receiptWrites, toAcceptance } from './accept.ts';
import { createReceiptReader } from './read.ts';
import { previewReplay } from './replay.ts';

export type ReceiptStoreOptions = {
  /** The 32 bytes under which the bytes of events are encrypted. */
  payloadKey: Buffer;
  /** `owner/name`, in any case: whose leads are claimed. */
  repository: string;
  /** Told of every acceptance: whether deliveries can be stored. Default: nobody asks. */
  watch?: WriteCheck['watch'];
};

/** Receipts, whatever the engine. Deliveries in flight at the same time share one commit. */
export function createReceiptStore(
  database: StoreDatabase,
  { payloadKey, repository, watch = (write) => write }: ReceiptStoreOptions,
): ReceiptStore {
  const { accept, forgetKeys, dropPayloads, ...writes } = bindWrites(
    database.writer.callInTurn,
    'receipt',
    receiptWrites,
  );
  const options = { payloadKey, repository: repository.toLowerCase() };
  return {
    accept: async (delivery) => toAcceptance(delivery, await watch(accept(delivery, options))),
    ...writes,
    purge: async (before) => ({
      keys: await untilNothing(() => forgetKeys(before)),
      payloads: await untilNothing(() => dropPayloads(before)),
    }),
    ...createReceiptReader(database),
    previewReplay: (filter) => previewReplay(database, filter),
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
