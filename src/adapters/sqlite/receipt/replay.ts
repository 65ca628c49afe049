import type { AuditEntry } from '#shared/audit.ts';
import type { EventStep, Outcome } from '#partners/receipts/receipt.ts';
import type { ReceiptFilter, ReplayResult } from '#partners/receipts/receipt-store.ts';
import { appendAudit } from '../../store/audit-log.ts';
import type { Connection } from '../connection/connection.ts';
import { receiptConditions } from './conditions.ts';
import { REFRESH_RECEIPT_STATUS } from './status.ts';
import { WITH_GIVEN_STEP } from './history.ts';
import { AS_NEW } from './requeue.ts';

const ENDED_BADLY = `outcome IN ('UNMATCHED', 'FAILED')`;

/** Without its payload an event cannot be worked again: nobody knows any more whom it named. */
const CAN_BE_REPLAYED = `${ENDED_BADLY} AND payload IS NOT NULL`;

const WITH_DEAD_LETTERS = `
  receipt.number IN (SELECT receipt FROM event WHERE ${CAN_BE_REPLAYED})`;

/**
 * A lead id that has found nobody so far means none of the leads that were created since the partner
 * asked: it is an operator who asks now.
 */
const QUEUE_RECEIPT = `
  UPDATE event SET ${AS_NEW},
    progress = iif(leadIds IS NULL, json_object('stage', 'match', 'askedAt', @now, 'misses', 0,
      'requestedAt', (SELECT receivedAt FROM receipt WHERE number = event.receipt)), NULL)
  WHERE receipt = @receipt AND ${CAN_BE_REPLAYED}`;

/** What ended without effect, and nobody has said of it so far that this is well. */
const ACKNOWLEDGE = `
  UPDATE event SET acknowledgedAt = @now, history = ${WITH_GIVEN_STEP}
  WHERE receipt = @receipt AND outcome IN ('UNMATCHED', 'REJECTED') AND acknowledgedAt IS NULL`;

const COUNT_OTHERS = `
  SELECT outcome, count(*) AS count FROM event
  WHERE receipt = ? AND NOT (${CAN_BE_REPLAYED}) GROUP BY outcome`;

/** Whoever replays what ended for a release, and names it, wants the release taken back. */
const FORGET_RELEASES = `
  DELETE FROM claim WHERE releasedAt IS NOT NULL AND event IN
    (SELECT id FROM event WHERE receipt = ? AND lastError = 'claim-released' AND ${CAN_BE_REPLAYED})`;

/** Rows that are purged in one transaction: a month's worth must not hold up readers. */
const CHUNK_ROWS = 1000;

const FORGET_SAME_EVENTS = `
  DELETE FROM same_event WHERE (idKey, personKey, key) IN
    (SELECT idKey, personKey, key FROM same_event WHERE firstSeenAt < ? LIMIT ${CHUNK_ROWS})`;

const DROP_PAYLOADS = `
  UPDATE event SET payload = NULL WHERE id IN
    (SELECT id FROM event WHERE payload IS NOT NULL AND completedAt < ? LIMIT ${CHUNK_ROWS})`;

/** What puts dead letters back into the queue, and ends the time for which they are kept. */
export function createReplayWrites(connection: Connection) {
  const { handle } = connection;
  const findNumber = handle
    .prepare<[string], number>('SELECT number FROM receipt WHERE id = ?')
    .pluck();
  const queueReceipt = handle.prepare<[OnReceipt]>(QUEUE_RECEIPT);
  const acknowledgeReceipt = handle.prepare<[OnReceipt]>(ACKNOWLEDGE);
  const forgetReleases = handle.prepare<[number]>(FORGET_RELEASES);
  const countOthers = handle.prepare<[number], CountRow>(COUNT_OTHERS);
  const refreshStatus = handle.prepare<[number]>(REFRESH_RECEIPT_STATUS);
  const forget = handle.prepare<[number]>(FORGET_SAME_EVENTS);
  const drop = handle.prepare<[number]>(DROP_PAYLOADS);
  const queueOne = (receipt: number, entry: AuditEntry): number => {
    const { changes } = queueReceipt.run(toStepOf(receipt, 'replayed', entry));
    if (changes > 0) refreshStatus.run(receipt);
    return changes;
  };
  const record = async (entry: AuditEntry, result: ReplayResult): Promise<ReplayResult> => {
    const { queued } = result;
    if (queued > 0)
      await appendAudit(connection, { ...entry, changes: { ...entry.changes, queued } });
    return result;
  };
  return {
    replay: async (id: string, entry: AuditEntry): Promise<ReplayResult | undefined> => {
      const number = findNumber.get(id);
      if (number === undefined) return undefined;
      forgetReleases.run(number);
      const left = toCounts(countOthers.all(number));
      return record(entry, { queued: queueOne(number, entry), left });
    },
    replayAll: async (filter: ReceiptFilter, entry: AuditEntry): Promise<ReplayResult> => {
      const left = toCounts(countDropped(connection, filter));
      const queued = receiptsToReplay(connection, filter).map((number) => queueOne(number, entry));
      return record(entry, { queued: queued.reduce((sum, count) => sum + count, 0), left });
    },
    acknowledge: async (id: string, entry: AuditEntry): Promise<number | undefined> => {
      const receipt = findNumber.get(id);
      if (receipt === undefined) return undefined;
      const { changes } = acknowledgeReceipt.run(toStepOf(receipt, 'acknowledged', entry));
      if (changes > 0)
        await appendAudit(connection, { ...entry, changes: { acknowledged: changes } });
      return changes;
    },
    /** One chunk of what `ReceiptStore.purge` forgets; returns how many. */
    forgetKeys: (before: number): number => forget.run(before).changes,
    /** One chunk of what it drops. */
    dropPayloads: (before: number): number => drop.run(before).changes,
  };
}

type OnReceipt = { receipt: number; now: number; step: string };

function toStepOf(receipt: number, what: EventStep['what'], { at, actor }: AuditEntry): OnReceipt {
  return { receipt, now: at, step: JSON.stringify({ at, what, by: actor.subject }) };
}

type CountRow = { outcome: Outcome; count: number };

function toCounts(rows: readonly CountRow[]): ReplayResult['left'] {
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}

function countDropped({ handle }: Connection, filter: ReceiptFilter): CountRow[] {
  const { from, number, where, values } = receiptConditions(handle, filter);
  const sql = `
    SELECT outcome, count(*) AS count FROM event
    WHERE ${ENDED_BADLY} AND payload IS NULL AND receipt IN
      (SELECT ${number} FROM ${from} ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''})
    GROUP BY outcome`;
  return handle.prepare<unknown[], CountRow>(sql).all(values);
}

function receiptsToReplay({ handle }: Connection, filter: ReceiptFilter): number[] {
  const { from, number, where, values } = receiptConditions(handle, filter);
  const sql = `
    SELECT DISTINCT ${number} FROM ${from}
    WHERE ${[...where, WITH_DEAD_LETTERS].join(' AND ')}`;
  return handle.prepare<unknown[], number>(sql).pluck().all(values);
}
