import { z } from 'zod';
import type { AuditEntry, Origin } from '#shared/audit.ts';
import { type Clock, toRfc3339 } from '#shared/clock.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import {
  type CursorSealer,
  type Page,
  type PageRequest,
  readPage,
} from '#shared/pagination/page.ts';
import {
  type ReceiptDetailOut,
  type ReceiptSummaryOut,
  toReceiptDetailOut,
  toReceiptSummaryOut,
} from './receipt-out.ts';
import { type Outcome, outcomes, type ReceiptDetail, type ReceiptSummary } from './receipt.ts';
import type { Database } from '#shared/database.ts';
import { listReceipts, readReceipt } from './read-receipts.ts';
import type { ReceiptFilter } from './receipt-conditions.ts';
import {
  acknowledge,
  previewReplay,
  replay,
  replayAll,
  type ReplayResult,
} from './replay-receipts.ts';

/** Whoever may see it sees all of it. */
const LIST = { kind: 'receipts/2', binding: '', position: z.int() };
const LIMIT_MAX = 100;

/** `limit`: 1 to 100. */
type ReceiptListQuery = PageRequest & { filter: ReceiptFilter };

/** Why an event was not queued. A payload is dropped 30 days after the event ended. */
const notQueuedOut = z
  .object({
    pending: z.int().optional().describe('They wait already, or are worked on.'),
    done: z.int().optional(),
    ignored: z.int().optional(),
    rejected: z.int().optional(),
    payloadDropped: z
      .int()
      .optional()
      .describe(
        'They ended `UNMATCHED` or `FAILED` more than 30 days ago: the partner sends again.',
      ),
  })
  .meta({ id: 'NotQueued', description: 'How many events were left as they are, by reason.' });

/** Result of a replay. */
export const replayedOut = z
  .object({
    queued: z.int().describe('How many events wait for the worker because of this.'),
    notQueued: notQueuedOut
      .optional()
      .describe(
        'There when events were left as they are. Of many receipts: `payloadDropped` only.',
      ),
  })
  .meta({ id: 'Replayed', examples: [{ queued: 1, notQueued: { done: 2 } }] });

export type NotQueuedReason = keyof z.infer<typeof notQueuedOut>;
export type Replayed = z.infer<typeof replayedOut>;

const reasons: Record<Outcome, NotQueuedReason> = {
  PENDING: 'pending',
  DONE: 'done',
  IGNORED: 'ignored',
  REJECTED: 'rejected',
  UNMATCHED: 'payloadDropped',
  FAILED: 'payloadDropped',
};

/** Operators' use cases. All throw `store-unavailable` when the store fails. */
export type Receipts = ReturnType<typeof createReceipts>;

/** Receipts without intake and worker, as the command line needs them. */
export function createReceipts({
  db,
  cursors,
  clock,
  wakeWorker,
}: {
  db: Database;
  cursors: CursorSealer;
  clock: Pick<Clock, 'now'>;
  /** Called when events wait because of a replay. */
  wakeWorker: () => void;
}) {
  const entryFor = (origin: Origin, action: AuditEntry['action'], subject: string) => ({
    ...origin,
    at: clock.now(),
    action,
    subject,
  });
  const queue = (result: ReplayResult): Replayed => {
    if (result.queued > 0) wakeWorker();
    return toReplayed(result);
  };
  /** One receipt with its events. @throws {not-found} */
  const find = async (id: string): Promise<ReceiptDetail> =>
    (await readReceipt(db, id)) ?? refuseReceipt();
  return {
    /** One page of receipts, newest first. @throws {validation-failed} @throws {invalid-cursor} */
    page: (query: ReceiptListQuery) => pageReceipts({ db, cursors }, query),
    /** The page as the admin API and the command line show it. */
    list: async (query: ReceiptListQuery): Promise<Page<ReceiptSummaryOut>> => {
      const page = await pageReceipts({ db, cursors }, query);
      return { ...page, items: page.items.map(toReceiptSummaryOut) };
    },
    find,
    /** The receipt as the admin API and the command line show it. @throws {not-found} */
    read: async (id: string): Promise<ReceiptDetailOut> => toReceiptDetailOut(await find(id)),
    /**
     * Has the events of one receipt that ended UNMATCHED or FAILED worked again, from the start.
     * @throws {not-found}
     */
    replay: async (id: string, origin: Origin): Promise<Replayed> => {
      const entry = entryFor(origin, 'receipt.replay', `receipt/${id}`);
      return queue((await db.exclusive((tx) => replay(tx, id, entry))) ?? refuseReceipt());
    },
    /**
     * Replays every receipt that the filter finds; of what is not queued, only lost payloads are counted.
     */
    replayAll: async (filter: ReceiptFilter, origin: Origin): Promise<Replayed> => {
      const entry = entryFor(origin, 'receipt.replay', 'receipts');
      const described = { ...entry, changes: describeFilter(filter) };
      return queue(await db.exclusive((tx) => replayAll(tx, filter, described)));
    },
    /** Counts the events that `replayAll` would queue and leave now. */
    previewReplay: (filter: ReceiptFilter) => previewReplay(db, filter),
    /**
     * An operator has seen that events of it came to nothing, and leaves it so; returns how many.
     * @throws {not-found}
     */
    acknowledge: async (id: string, origin: Origin): Promise<number> => {
      const entry = entryFor(origin, 'receipt.acknowledge', `receipt/${id}`);
      return (await db.exclusive((tx) => acknowledge(tx, id, entry))) ?? refuseReceipt();
    },
  };
}

async function pageReceipts(
  { db, cursors }: { db: Database; cursors: CursorSealer },
  query: ReceiptListQuery,
): Promise<Page<ReceiptSummary>> {
  const { limit } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    refuse([{ parameter: 'limit', code: 'out-of-range', detail: `limit is 1 to ${LIMIT_MAX}.` }]);
  return readPage(cursors, LIST, query, (range) => listReceipts(db, range));
}

function refuseReceipt(): never {
  throw new TrackportError('not-found', { detail: 'There is no receipt with this id.' });
}

/** Which filters were used. Identifiers are left out: what a partner calls a person may be one. */
function describeFilter(filter: ReceiptFilter): Record<string, unknown> {
  const { partnerId, status, outcome, since, before } = filter;
  const values = {
    partnerId,
    status,
    outcome,
    ...(since !== undefined && { since: toRfc3339(since) }),
    ...(before !== undefined && { before: toRfc3339(before) }),
  };
  const setIn = (fields: object) =>
    Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    filters: setIn(filter).map(([name]) => name),
    ...Object.fromEntries(setIn(values)),
  };
}

function toReplayed({ queued, notQueued: byOutcome }: ReplayResult): Replayed {
  const notQueued: Partial<Record<NotQueuedReason, number>> = {};
  for (const outcome of outcomes) {
    const reason = reasons[outcome];
    const count = byOutcome[outcome] ?? 0;
    if (count > 0) notQueued[reason] = (notQueued[reason] ?? 0) + count;
  }
  return Object.keys(notQueued).length === 0 ? { queued } : { queued, notQueued };
}
