/** Receipts as operators work with them: read, listed, worked again, acknowledged. */
import { z } from 'zod';
import { type AuditEntry, type Origin, appendAudit } from '#shared/audit.ts';
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
  type NotQueuedReason,
  type ReceiptSummaryOut,
  type Replayed,
  toReceiptDetailOut,
  toReceiptSummaryOut,
} from './receipt-out.ts';
import {
  type Outcome,
  outcomes,
  type ReceiptDetail,
  type ReceiptSummary,
  type EventStep,
} from './receipt.ts';
import type { Database, Statements, Tx } from '#shared/database.ts';
import {
  listReceipts,
  readReceipt,
  type ReceiptFilter,
  receiptConditions,
} from './read-receipts.ts';
import { AS_NEW, REFRESH_RECEIPT_STATUS, WITH_GIVEN_STEP } from './event-changes.ts';

/** Whoever may see it sees all of it. */
const LIST = { kind: 'receipts/2', binding: '', position: z.int() };
const LIMIT_MAX = 100;

/** `limit`: 1 to 100. */
type ReceiptListQuery = PageRequest & { filter: ReceiptFilter };

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
  const entryOf = (origin: Origin, subject: string) => ({ ...origin, at: clock.now(), subject });
  const commitReplay = async (work: (tx: Tx) => Promise<ReplayResult>): Promise<Replayed> => {
    const result = await db.exclusive(work);
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
      const entry = entryOf(origin, `receipt/${id}`);
      return commitReplay(async (tx) => {
        const receipt = await findNumber(tx, id);
        await tx.run(FORGET_RELEASES, { receipt });
        return queue(tx, [receipt], { entry, notQueued: await countLeft(tx, receipt) });
      });
    },
    /**
     * Replays every receipt that the filter finds; of what is not queued, only lost payloads are counted.
     */
    replayAll: async (filter: ReceiptFilter, origin: Origin): Promise<Replayed> => {
      const entry = { ...entryOf(origin, 'receipts'), changes: describeFilter(filter) };
      return commitReplay(async (tx) => {
        const { notQueued } = await countReplay(tx, filter);
        return queue(tx, await receiptsToReplay(tx, filter), { entry, notQueued });
      });
    },
    /** Counts the events that `replayAll` would queue and leave now. */
    previewReplay: (filter: ReceiptFilter) => countReplay(db, filter),
    /**
     * An operator has seen that events of it came to nothing, and leaves it so; returns how many.
     * @throws {not-found}
     */
    acknowledge: async (id: string, origin: Origin): Promise<number> => {
      const entry = entryOf(origin, `receipt/${id}`);
      return db.exclusive(async (tx) => {
        const receipt = await findNumber(tx, id);
        const step = stepOf('acknowledged', entry);
        const acknowledged = await tx.run(ACKNOWLEDGE, { receipt, ...step });
        const changes = { acknowledged };
        if (acknowledged > 0) appendAudit(tx, { ...entry, action: 'receipt.acknowledge', changes });
        return acknowledged;
      });
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

/** Result of a replay, in numbers of events. */
type ReplayResult = {
  queued: number;
  /** Those it leaves as they are, by outcome. UNMATCHED and FAILED ones have lost their payload. */
  notQueued: Partial<Record<Outcome, number>>;
};

const reasons: Record<Outcome, NotQueuedReason> = {
  PENDING: 'pending',
  DONE: 'done',
  IGNORED: 'ignored',
  REJECTED: 'rejected',
  UNMATCHED: 'payloadDropped',
  FAILED: 'payloadDropped',
};

function toReplayed({ queued, notQueued: byOutcome }: ReplayResult): Replayed {
  const notQueued: Partial<Record<NotQueuedReason, number>> = {};
  for (const outcome of outcomes) {
    const reason = reasons[outcome];
    const count = byOutcome[outcome] ?? 0;
    if (count > 0) notQueued[reason] = (notQueued[reason] ?? 0) + count;
  }
  return Object.keys(notQueued).length === 0 ? { queued } : { queued, notQueued };
}

/** Result that a replay would have, in numbers of events. */
export type ReplayPreview = {
  /** Those that can be worked again: UNMATCHED and FAILED ones. */
  queued: Partial<Record<Outcome, number>>;
  /** Those of the same outcomes that have lost their payload. */
  notQueued: Partial<Record<Outcome, number>>;
};

const ENDED_BADLY = `outcome IN ('UNMATCHED', 'FAILED')`;

/** Without its payload an event cannot be worked again: nobody knows any more whom it named. */
const CAN_BE_REPLAYED = `${ENDED_BADLY} AND payload IS NOT NULL`;

const FIND_NUMBER = 'SELECT number FROM receipt WHERE id = @id';

/** It means who was there when the partner asked: it is an operator who asks now. */
const QUEUE_RECEIPTS = `
  UPDATE event SET ${AS_NEW}, progress = NULL
  WHERE receipt = ANY(@receipts::bigint[]) AND ${CAN_BE_REPLAYED}`;

/** Only events that ended without effect, and that nobody has acknowledged. */
const ACKNOWLEDGE = `
  UPDATE event SET acknowledged_at = @now, history = ${WITH_GIVEN_STEP}
  WHERE receipt = @receipt AND outcome IN ('UNMATCHED', 'REJECTED') AND acknowledged_at IS NULL`;

const COUNT_OTHERS = `
  SELECT outcome, count(*) AS count FROM event
  WHERE receipt = @receipt AND NOT (${CAN_BE_REPLAYED}) GROUP BY outcome`;

/** Whoever replays what ended for a release, and names it, wants the release taken back. */
const FORGET_RELEASES = `
  DELETE FROM claim WHERE released_at IS NOT NULL AND event IN
    (SELECT id FROM event
     WHERE receipt = @receipt AND last_error = 'claim-released' AND ${CAN_BE_REPLAYED})`;

/** Events of a receipt that a replay leaves as they are, by outcome. */
async function countLeft(tx: Tx, receipt: number): Promise<ReplayResult['notQueued']> {
  const rows = await tx.all<{ outcome: Outcome; count: number }>(COUNT_OTHERS, { receipt });
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}

/** @throws {not-found} */
async function findNumber(db: Statements, id: string): Promise<number> {
  return (await db.get<{ number: number }>(FIND_NUMBER, { id }))?.number ?? refuseReceipt();
}

function stepOf(
  what: EventStep['what'],
  { at, actor }: Pick<AuditEntry, 'at' | 'actor'>,
): { now: number; step: string } {
  return { now: at, step: JSON.stringify({ at, what, by: actor.subject }) };
}

async function queue(
  tx: Tx,
  receipts: readonly number[],
  { entry, notQueued }: { entry: Omit<AuditEntry, 'action'>; notQueued: ReplayResult['notQueued'] },
): Promise<ReplayResult> {
  const queued = await tx.run(QUEUE_RECEIPTS, { receipts, ...stepOf('replayed', entry) });
  if (queued > 0) {
    await tx.run(REFRESH_RECEIPT_STATUS, { receipts });
    const changes = { ...entry.changes, queued };
    appendAudit(tx, { ...entry, action: 'receipt.replay', changes });
  }
  return { queued, notQueued };
}

/** Counts what `replayAll` queues and leaves. */
async function countReplay(db: Statements, filter: ReceiptFilter): Promise<ReplayPreview> {
  const { from, number, where, values } = await receiptConditions(db, filter);
  const counts = await db.all<{ outcome: Outcome; isKept: boolean; count: number }>(
    `SELECT outcome, payload IS NOT NULL AS is_kept, count(*) AS count FROM event
     WHERE ${ENDED_BADLY} AND receipt IN (SELECT ${number} FROM ${from} WHERE ${where})
     GROUP BY 1, 2`,
    values,
  );
  const of = (isKept: boolean): Partial<Record<Outcome, number>> =>
    Object.fromEntries(
      counts.filter((one) => one.isKept === isKept).map(({ outcome, count }) => [outcome, count]),
    );
  return { queued: of(true), notQueued: of(false) };
}

async function receiptsToReplay(db: Statements, filter: ReceiptFilter): Promise<number[]> {
  const { from, number, where, values } = await receiptConditions(db, filter);
  const rows = await db.all<{ number: number }>(
    `SELECT DISTINCT ${number} AS number FROM ${from}
     WHERE ${where} AND receipt.number IN (SELECT receipt FROM event WHERE ${CAN_BE_REPLAYED})`,
    values,
  );
  return rows.map((row) => row.number);
}
