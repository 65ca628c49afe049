import type { Origin } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import {
  findReceipt,
  listReceipts,
  pageReceipts,
  readReceipt,
  type ReadReceiptsDeps,
  type ReceiptListQuery,
  refuseReceipt,
} from './read-receipts.ts';
import { replayReceipt, replayReceipts } from './replay-receipts.ts';
import type { ReceiptFilter, ReceiptStore } from './receipt-store.ts';

/** What operators' work with receipts is made of. */
export type ReceiptsPorts = {
  store: Omit<ReceiptStore, 'accept' | 'purge'>;
  cursors: ReadReceiptsDeps['cursors'];
  clock: Pick<Clock, 'now'>;
  /** Called when events wait because of a replay. */
  wakeWorker: () => void;
};

/** Operators' use cases. Each is documented, with the codes that it throws, where it stands. */
export type Receipts = ReturnType<typeof createReceipts>;

/** Receipts without intake and worker, as the command line needs them. */
export function createReceipts(ports: ReceiptsPorts) {
  return {
    list: (query: ReceiptListQuery) => listReceipts(ports, query),
    read: (id: string) => readReceipt(ports, id),
    page: (query: ReceiptListQuery) => pageReceipts(ports, query),
    find: (id: string) => findReceipt(ports, id),
    replay: (id: string, origin: Origin) => replayReceipt(ports, id, origin),
    replayAll: (filter: ReceiptFilter, origin: Origin) => replayReceipts(ports, filter, origin),
    /**
     * An operator has seen that events of it came to nothing, and leaves it so; returns how many.
     * @throws {not-found} @throws {store-unavailable}
     */
    acknowledge: async (id: string, origin: Origin) => {
      const entry = { ...origin, at: ports.clock.now(), subject: `receipt/${id}` };
      const action = 'receipt.acknowledge';
      return (await ports.store.acknowledge(id, { ...entry, action })) ?? refuseReceipt();
    },
    /** What `replayAll` would do now. @throws {store-unavailable} */
    previewReplay: (filter: ReceiptFilter) => ports.store.previewReplay(filter),
  };
}
