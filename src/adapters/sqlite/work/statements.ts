import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-order.ts';
import type BetterSqlite3 from 'better-sqlite3';
import type { Erasure, Outcome, PartnerPath } from '#partners/receipts/receipt.ts';
import type { Stage } from '#partners/worker/work-store.ts';
import { HOUR } from '#shared/clock.ts';
import { WITH_END, WITH_GIVEN_STEP, withStep } from '../receipt/history.ts';
import { MERGED_INTO } from '../directory/view.ts';
import { REFRESH_RECEIPT_STATUS } from '../receipt/status.ts';
import { REQUEUE_REPEATED } from '../receipt/requeue.ts';

export type DueRow = {
  event: number;
  receiptId: string;
  partnerId: string;
  path: PartnerPath;
  traceparent: string | null;
  position: number;
  dueAt: number;
  attempts: number;
  payload: Buffer | null;
  progress: string | null;
};

/** Every write of an item is fenced: it changes nothing once the lease belongs to another. */
type Fence = { event: number; lease: string };

const IS_MINE = `id = @event AND leaseToken = @lease AND outcome = 'PENDING'`;

export type WorkStatements = ReturnType<typeof prepareWork>;

/** Every statement of the worker's writes. */
export function prepareWork(handle: BetterSqlite3.Database) {
  return {
    ...prepareLeases(handle),
    ...prepareWrites(handle),
    ...prepareLooks(handle),
    ...prepareShared(handle),
  };
}

export type WorkReads = ReturnType<typeof prepareWorkReads>;

/** Every statement of what only reads. */
export function prepareWorkReads(handle: BetterSqlite3.Database) {
  return { ...prepareDue(handle), ...prepareCounts(handle), ...prepareShared(handle) };
}

function prepareShared(handle: BetterSqlite3.Database) {
  return {
    isMine: handle.prepare<[Fence], number>(`SELECT 1 FROM event WHERE ${IS_MINE}`).pluck(),
    repositoryId: handle
      .prepare<[string], number>('SELECT repositoryId FROM tracker_repository WHERE name = ?')
      .pluck(),
  };
}

function prepareDue(handle: BetterSqlite3.Database) {
  return {
    nextDueAt: handle
      .prepare<[Stage], number>(
        `SELECT dueAt FROM event WHERE stage = ? AND outcome = 'PENDING' AND leaseToken IS NULL
         ORDER BY dueAt LIMIT 1`,
      )
      .pluck(),
    nextLookAt: handle
      .prepare<[], number>('SELECT dueAt FROM late_look ORDER BY dueAt LIMIT 1')
      .pluck(),
    dueLooks: handle.prepare<
      [{ now: number; limit: number }],
      LookRow & { receiptId: string; partnerId: string }
    >(`
      SELECT late_look.*, receipt.id AS receiptId, receipt.partnerId
      FROM late_look JOIN event ON event.id = late_look.event
        JOIN receipt ON receipt.number = event.receipt
      WHERE late_look.dueAt <= @now ORDER BY late_look.dueAt LIMIT @limit`),
  };
}

function prepareCounts(handle: BetterSqlite3.Database) {
  return {
    heldElsewhere: handle
      .prepare<[number, string], number>(
        `SELECT 1 FROM claim WHERE event = ? AND releasedAt IS NULL
           AND repositoryId <> ${REPOSITORY_NOT_KNOWN} AND repositoryId IS NOT
             (SELECT repositoryId FROM tracker_repository WHERE name = ?) LIMIT 1`,
      )
      .pluck(),
    counts: handle.prepare<
      [],
      { open: number; oldestAskedAt: number | null; deadLetters: number }
    >(`
      SELECT count(*) AS open, min(askedAt) AS oldestAskedAt,
        (SELECT count(*) FROM event WHERE outcome = 'FAILED') AS deadLetters
      FROM event INDEXED BY event_due WHERE outcome = 'PENDING'`),
    lackedPartners: handle
      .prepare<[], string>(`
        SELECT DISTINCT partnerId FROM receipt WHERE number IN
          (SELECT receipt FROM event WHERE outcome = 'PENDING' AND lastError = 'partner-unknown')`)
      .pluck(),
  };
}

function prepareLeases(handle: BetterSqlite3.Database) {
  return {
    isWorkedOnByOther: handle
      .prepare<[string], number>('SELECT 1 FROM worker_lease WHERE holder <> ?')
      .pluck(),
    due: handle.prepare<[{ stage: Stage; now: number; limit: number }], DueRow>(`
      SELECT event.id AS event, receipt.id AS receiptId, receipt.partnerId, receipt.path,
        receipt.traceparent, event.position, event.dueAt, event.attempts, event.payload, event.progress
      FROM event JOIN receipt ON receipt.number = event.receipt
      WHERE event.stage = @stage AND event.outcome = 'PENDING' AND event.dueAt <= @now
        AND (event.leaseUntil IS NULL OR event.leaseUntil <= @now)
      ORDER BY event.dueAt LIMIT @limit`),
    lease: handle.prepare<[{ event: number; lease: string; until: number }]>(
      'UPDATE event SET leaseToken = @lease, leaseUntil = @until WHERE id = @event',
    ),
    forgetLeases: handle.prepare<[]>(
      `UPDATE event SET leaseToken = NULL, leaseUntil = NULL
       WHERE outcome = 'PENDING' AND leaseToken IS NOT NULL`,
    ),
    dueNow: handle.prepare<[{ now: number }]>(
      `UPDATE event SET dueAt = @now
       WHERE outcome = 'PENDING' AND dueAt > @now AND (progress IS NULL
         OR lastError = 'partner-unknown'
         OR receipt IN (SELECT number FROM receipt WHERE receivedAt > @now))`,
    ),
    dueTooLate: handle.prepare<[{ stage: Stage; now: number; latest: number }]>(
      `UPDATE event SET dueAt = @now
       WHERE outcome = 'PENDING' AND stage = @stage AND dueAt > @latest`,
    ),
    // What is due by now was accepted since, or has waited long enough by any clock.
    moveBack: handle.prepare<[{ by: number; now: number }]>(
      `UPDATE event SET dueAt = iif(dueAt > @now, dueAt - @by, dueAt), leaseUntil = leaseUntil - @by
       WHERE outcome = 'PENDING'`,
    ),
    giveBack: handle.prepare<[Fence]>(
      `UPDATE event SET leaseToken = NULL, leaseUntil = NULL WHERE ${IS_MINE}`,
    ),
  };
}

function prepareWrites(handle: BetterSqlite3.Database) {
  return {
    matched: handle.prepare<[Fence & Record<string, unknown>]>(`
      UPDATE event SET progress = @progress, leadIds = @leadIds, dueAt = @dueAt,
        lastError = NULL, attempts = @attempts, note = coalesce(@note, note), leaseToken = NULL,
        leaseUntil = NULL, history = ${WITH_GIVEN_STEP}
      WHERE ${IS_MINE}`),
    progress: handle.prepare<[Fence & { progress: string; until: number }]>(
      `UPDATE event SET progress = @progress, leaseUntil = @until WHERE ${IS_MINE}`,
    ),
    reschedule: handle.prepare<[Fence & Record<string, unknown>]>(`
      UPDATE event SET dueAt = @dueAt, attempts = @attempts, lastError = @lastError,
        progress = coalesce(@progress, progress), leaseToken = NULL, leaseUntil = NULL,
        history = ${WITH_GIVEN_STEP}
      WHERE ${IS_MINE}`),
    // A DONE event needs its payload no more; the others can be replayed for 30 days.
    settle: handle.prepare<[Fence & Record<string, unknown>]>(`
      UPDATE event SET outcome = @outcome, erasure = @erasure, note = coalesce(@note, note), attempts = @attempts,
        lastError = @lastError, completedAt = @now, dueAt = NULL, leaseToken = NULL,
        leaseUntil = NULL, progress = NULL,
        payload = CASE WHEN @outcome = 'DONE' THEN NULL ELSE payload END
      WHERE ${IS_MINE}`),
    leadIds: handle.prepare<[{ event: number; leadIds: string | null }]>(
      'UPDATE event SET leadIds = @leadIds WHERE id = @event',
    ),
    requeueRepeated: handle.prepare<[Fence]>(REQUEUE_REPEATED),
    cameAgain: handle
      .prepare<[], number>("SELECT id FROM event WHERE outcome = 'PENDING' AND again > 0")
      .pluck(),
    refreshReceipt: handle.prepare<[number]>(REFRESH_RECEIPT_STATUS),
    receiptOf: handle.prepare<[number], number>('SELECT receipt FROM event WHERE id = ?').pluck(),
  };
}

/** A clock that was wrong leaves instants behind that are further away than any look. */
const LOOK_AHEAD_MAX_MS = HOUR;

function prepareLooks(handle: BetterSqlite3.Database) {
  return {
    noteLook: handle.prepare<[LookRow]>(`
      INSERT INTO late_look (event, repositoryId, keyHash, actions, matchedAt, createdBefore, dueAt)
      VALUES (@event, @repositoryId, @keyHash, @actions, @matchedAt,
        max(@createdBefore, coalesce(
          (SELECT caughtUpTo FROM directory_state WHERE repositoryId = @repositoryId), 0)),
        @dueAt)`),
    forgetLook: handle.prepare<[number]>('DELETE FROM late_look WHERE event = ?'),
    putOffLook: handle.prepare<[{ event: number; dueAt: number }]>(
      'UPDATE late_look SET dueAt = @dueAt WHERE event = @event',
    ),
    moveLooksBack: handle.prepare<[{ by: number }]>(
      'UPDATE late_look SET dueAt = dueAt - @by, matchedAt = matchedAt - @by',
    ),
    looksNow: handle.prepare<[{ now: number }]>(
      `UPDATE late_look SET dueAt = @now, matchedAt = min(matchedAt, @now)
       WHERE matchedAt > @now OR dueAt > @now + ${LOOK_AHEAD_MAX_MS}`,
    ),
    look: handle.prepare<[number], { repositoryId: number; actions: string }>(
      'SELECT repositoryId, actions FROM late_look WHERE event = ?',
    ),
    // Whatever the event did with a lead before, also what an operator gave back, is not late.
    lateLeads: handle
      .prepare<[{ event: number }], number>(`
        WITH RECURSIVE ${MERGED_INTO('SELECT keyHash FROM late_look WHERE event = @event')}
        SELECT DISTINCT number FROM late_look CROSS JOIN known
          JOIN directory_key AS identity
            ON identity.keyHash = known.hash AND identity.repositoryId = late_look.repositoryId
          JOIN directory_lead AS lead USING (repositoryId, number)
        WHERE late_look.event = @event AND lead.createdAt <= late_look.createdBefore
          AND NOT EXISTS (SELECT 1 FROM claim WHERE claim.event = @event
            AND claim.repositoryId = late_look.repositoryId AND claim.number = lead.number)
        ORDER BY number`)
      .pluck(),
    ...prepareReopening(handle),
  };
}

function prepareReopening(handle: BetterSqlite3.Database) {
  return {
    state: handle.prepare<
      [number],
      {
        outcome: Outcome;
        stage: Stage;
        progress: string | null;
        erasure: Erasure | null;
        leadIds: string | null;
      }
    >('SELECT outcome, stage, progress, erasure, leadIds FROM event WHERE id = ?'),
    // Whoever has leased the event loses it: what it knows of the leads is not all any more.
    reopen: handle.prepare<
      [{ event: number; progress: string; leadIds: string | null; now: number }]
    >(`
      UPDATE event SET outcome = 'PENDING', completedAt = NULL, dueAt = @now, progress = @progress,
        leadIds = @leadIds, leaseToken = NULL, leaseUntil = NULL,
        history = ${withStep("json_object('at', @now, 'what', 'late-lead')", `iif(outcome = 'PENDING', history, ${WITH_END})`)},
        attempts = iif(outcome = 'PENDING', attempts, 0),
        lastError = iif(outcome = 'PENDING', lastError, NULL)
      WHERE id = @event`),
  };
}

type LookRow = {
  event: number;
  repositoryId: number;
  keyHash: Buffer;
  /** JSON array. */
  actions: string;
  matchedAt: number;
  createdBefore: number;
  dueAt: number;
};
