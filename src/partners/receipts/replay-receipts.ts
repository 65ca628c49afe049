import type { EventStep, Outcome } from './receipt.ts';
import { type AuditEntry, appendAudit } from '#shared/audit.ts';
import { receiptConditions, type ReceiptFilter } from './receipt-conditions.ts';
import { AS_NEW, REFRESH_RECEIPT_STATUS, WITH_GIVEN_STEP } from './event-changes.ts';
import type { Statements, Tx } from '#shared/database.ts';

/** Result of a replay, in numbers of events. */
export type ReplayResult = {
  queued: number;
  /** Those it leaves as they are, by outcome. UNMATCHED and FAILED ones have lost their payload. */
  notQueued: Partial<Record<Outcome, number>>;
};

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

export async function replay(
  tx: Tx,
  id: string,
  entry: AuditEntry,
): Promise<ReplayResult | undefined> {
  const receipt = await findNumber(tx, id);
  if (receipt === undefined) return undefined;
  await tx.run(FORGET_RELEASES, { receipt });
  const others = await tx.all<{ outcome: Outcome; count: number }>(COUNT_OTHERS, { receipt });
  const notQueued = Object.fromEntries(others.map(({ outcome, count }) => [outcome, count]));
  return queue(tx, [receipt], { entry, notQueued });
}

export async function replayAll(
  tx: Tx,
  filter: ReceiptFilter,
  entry: AuditEntry,
): Promise<ReplayResult> {
  const { notQueued } = await previewReplay(tx, filter);
  return queue(tx, await receiptsToReplay(tx, filter), { entry, notQueued });
}

export async function acknowledge(
  tx: Tx,
  id: string,
  entry: AuditEntry,
): Promise<number | undefined> {
  const receipt = await findNumber(tx, id);
  if (receipt === undefined) return undefined;
  const acknowledged = await tx.run(ACKNOWLEDGE, {
    receipt,
    ...stepOf('acknowledged', entry),
  });
  if (acknowledged > 0) appendAudit(tx, { ...entry, changes: { acknowledged } });
  return acknowledged;
}

async function findNumber(db: Statements, id: string): Promise<number | undefined> {
  return (await db.get<{ number: number }>(FIND_NUMBER, { id }))?.number;
}

function stepOf(what: EventStep['what'], { at, actor }: AuditEntry): { now: number; step: string } {
  return { now: at, step: JSON.stringify({ at, what, by: actor.subject }) };
}

async function queue(
  tx: Tx,
  receipts: readonly number[],
  { entry, notQueued }: { entry: AuditEntry; notQueued: ReplayResult['notQueued'] },
): Promise<ReplayResult> {
  const queued = await tx.run(QUEUE_RECEIPTS, { receipts, ...stepOf('replayed', entry) });
  if (queued > 0) {
    await tx.run(REFRESH_RECEIPT_STATUS, { receipts });
    appendAudit(tx, { ...entry, changes: { ...entry.changes, queued } });
  }
  return { queued, notQueued };
}

/** Counts what `replayAll` queues and leaves. */
export async function previewReplay(db: Statements, filter: ReceiptFilter): Promise<ReplayPreview> {
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
