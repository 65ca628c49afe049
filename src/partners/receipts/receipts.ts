import type { Clock } from '#shared/clock.ts';
import { findReceipt, listReceipts, pageReceipts, readReceipt } from './read-receipts.ts';
import type { ReadReceiptsDeps } from './read-receipts.ts';
import type { ReceiptListQuery } from './read-receipts.ts';
import { replayReceipt, replayReceipts } from './replay-receipts.ts';
import type { ReplayOrigin } from './replay-receipts.ts';
import type { ReceiptFilter, ReceiptStore } from './receipt-store.ts';

/** What operators' work with receipts is made of. */
export type ReceiptsPorts = {
  store: Pick<ReceiptStore, 'list' | 'read' | 'replay' | 'replayAll' | 'previewReplay'>;
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
    replay: (id: string, origin: ReplayOrigin) => replayReceipt(ports, id, origin),
    replayAll: (filter: ReceiptFilter, origin: ReplayOrigin) =>
      replayReceipts(ports, filter, origin),
    /** What `replayAll` would do now. @throws {store-unavailable} */
    previewReplay: (filter: ReceiptFilter) => ports.store.previewReplay(filter),
  };
}
