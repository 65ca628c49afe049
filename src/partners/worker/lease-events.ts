import { type Clock, SECOND } from '#shared/clock.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import { type Database, send } from '#shared/database.ts';
import { newUuid } from '#shared/ids.ts';
import { either, toJson, toRecords } from '#shared/sql.ts';
import { type EventErrorCode, type EventStep, openPayload } from '../receipts/receipt.ts';
import { REQUEUE_REPEATED, WITH_GIVEN_STEP } from '../receipts/event-changes.ts';
import type { WorkItem } from './work-item.ts';
import { type EventProgress, readProgress, type Stage } from '../receipts/event-progress.ts';

/** Every write of an item is fenced: it changes nothing once the lease belongs to another. */
export const IS_MINE = `id = @event AND lease_token = @leaseToken AND outcome = 'PENDING'`;

/** Values of an item by which a statement is fenced; the payload stays where it is. */
export function leaseOf({
  event,
  leaseToken,
}: Pick<WorkItem, 'event' | 'leaseToken'>): Pick<WorkItem, 'event' | 'leaseToken'> {
  return { event, leaseToken };
}

/**
 * `event.rank`, by which events take turns: deletions that redact or delete, then the other deletions, then
 * what rules are for. While it is matched a deletion is of the second.
 */
export const RANKS = [0, 1, 2];

/** Nobody has it. */
export const DUE_AND_FREE = `
  outcome = 'PENDING' AND due_at <= @now AND (lease_until IS NULL OR lease_until <= @now)`;

/** Of each rank so many, as its index has them in order: what waits for its instant is not read. */
const DUE_OF_RANKS = RANKS.map(
  (rank) => `SELECT * FROM (SELECT id, ${rank} AS rank, due_at FROM event
    WHERE stage = @stage AND rank = ${rank} AND ${DUE_AND_FREE}
    ORDER BY due_at ${either(', id', '')} LIMIT @among) AS due_${rank}`,
).join(' UNION ALL ');

/** The next ones of a stage; payloads are read of those alone. SQLite sorts what its index has in order already, if it is asked for more of an order. */
const DUE = `
  SELECT event.id AS event, receipt.id AS receipt_id, receipt.partner_id, receipt.path,
    receipt.received_at, receipt.traceparent, event.position, event.due_at, event.created_before, event.attempts, event.payload, event.progress
  FROM (SELECT * FROM (
      SELECT * FROM (${DUE_OF_RANKS}) AS due_of_ranks ORDER BY rank, due_at, id LIMIT @among) AS chosen
      WHERE NOT id = ANY(@except::bigint[]) ORDER BY due_at, rank, id LIMIT @limit) AS due
    JOIN event ON event.id = due.id JOIN receipt ON receipt.number = event.receipt
  ORDER BY due.rank, due.due_at, due.id`;

const NEXT_DUE_AT = `
  SELECT due_at FROM event WHERE stage = @stage AND outcome = 'PENDING' AND lease_token IS NULL
  ORDER BY due_at LIMIT 1`;

/** Stored by a clock that was ahead. */
const IS_TOO_LATE = "outcome = 'PENDING' AND stage = @stage AND due_at > @latest";

const TOO_LATE = `SELECT 1 FROM event WHERE ${IS_TOO_LATE} LIMIT 1`;

const TO_LEASE = `
  SELECT 1 FROM event WHERE stage = @stage AND outcome = 'PENDING' AND due_at <= @now
  UNION ALL
  SELECT 1 FROM event WHERE ${IS_TOO_LATE}
  LIMIT 1`;

const DUE_TOO_LATE = `UPDATE event SET due_at = @now WHERE ${IS_TOO_LATE}`;

/** A file has one service. */
const WORKED_ON_BY_OTHER = either(
  'SELECT 1 FROM worker_lease WHERE holder <> @instance',
  'SELECT 1 WHERE false',
);

const LEASE = `
  UPDATE event SET lease_token = @token::text || '/' || id, lease_until = @until
  WHERE id = ANY(@events::bigint[])`;

const FORGET_LEASES = `
  UPDATE event SET lease_token = NULL, lease_until = NULL
  WHERE outcome = 'PENDING' AND lease_token IS NOT NULL`;

const CAME_AGAIN = "SELECT id AS event FROM event WHERE outcome = 'PENDING' AND again > 0";
const CAME_AGAIN_OF =
  'SELECT id AS event FROM event WHERE id = ANY(@events::bigint[]) AND again > 0';

const dueNow = (errors: string): string => `
  UPDATE event SET due_at = @now
  WHERE outcome = 'PENDING' AND due_at > @now
    AND (progress IS NULL OR last_error IN (${errors})
      OR stage = 'match' AND progress ->> 'missedSince' IS NULL)`;
const DUE_AT_START = dueNow("'partner-unknown', 'tracker-limited'");
/** A refusal spends a try at each start, too, unless something has changed. */
const DUE_NOW = dueNow("'partner-unknown', 'tracker-limited', 'forbidden'");

const GIVE_BACK = `
  UPDATE event SET lease_token = NULL, lease_until = NULL WHERE ${IS_MINE}`;

const SAVE_PROGRESS = `
  UPDATE event SET progress = @progress, lease_until = @until WHERE ${IS_MINE}`;

const RESCHEDULE = `
  UPDATE event SET due_at = @dueAt, attempts = @attempts, last_error = @lastError,
    progress = coalesce(@progress, progress), lease_token = NULL, lease_until = NULL,
    history = ${WITH_GIVEN_STEP}
  WHERE ${IS_MINE}`;

/** By number: SQLite would read all events that wait, by the index that has their outcome. */
const POSTPONE = `
  UPDATE event SET due_at = given.due_at, last_error = given.last_error, progress = given.progress,
    lease_token = NULL, lease_until = NULL
  FROM jsonb_to_recordset(@items) AS given (event bigint, lease_token text, due_at bigint, last_error text, progress jsonb)
  WHERE event.id = given.event AND event.lease_token = given.lease_token AND /*sqlite +*/outcome = 'PENDING'`;

/** Bounds how long an event stays taken that nobody gave back. A step may take longer: nobody else takes its event meanwhile. */
const EVENT_LEASE_MS = 25 * SECOND;

/** An event that is due, as it is stored. */
type DueRow = Omit<WorkItem, 'progress' | 'leaseToken'> & { progress?: string };

/** Events that are chosen from: so many of those that go first, and of these none that is an exception. */
export type Choice = { among: number; except: Set<number> };

/**
 * Leases up to `limit` due events of a stage: deletions that redact or delete go before the other ones, and those
 * before events; then oldest due first. Of the `choice`, which go first so, those are leased that have been due for
 * longest: what was refused is due anew, and keeps none waiting. `aheadMaxMs` is the longest wait that there is: what is due later was stored by
 * a clock that was ahead, and is due now. While another instance than `instance` has the right to work, nothing is
 * leased. `sealer` opens the bytes of events. @throws {store-unavailable} and then nothing has changed, here and below
 */
export async function leaseEvents(
  { db, instance, sealer }: { db: Database; instance: string; sealer: Sealer },
  stage: Stage,
  {
    now,
    limit,
    choice: { among, except } = { among: limit, except: new Set() },
    aheadMaxMs,
  }: { now: number; limit: number; choice?: Choice; aheadMaxMs?: number },
): Promise<readonly WorkItem[]> {
  const latest = aheadMaxMs === undefined ? undefined : now + aheadMaxMs;
  const due = { stage, now, limit, among, except: [...except], latest };
  // Asked after every step, and mostly there is nothing: that needs no transaction.
  if (!(await db.get(TO_LEASE, due))) return [];
  const token = newUuid();
  const leased = await db.exclusive(async (tx) => {
    if (await tx.get(WORKED_ON_BY_OTHER, { instance })) return [];
    if (await tx.get(TOO_LATE, due)) await tx.run(DUE_TOO_LATE, due);
    const rows = await tx.all<DueRow>(DUE, due);
    const events = rows.map(({ event }) => event);
    if (rows.length > 0) send(tx, LEASE, { events, token, until: now + EVENT_LEASE_MS });
    return rows;
  });
  return leased.map((row) => toItem(sealer, row, token));
}

function toItem(sealer: Sealer, row: DueRow, token: string): WorkItem {
  const { payload: sealed, progress: stored, ...item } = row;
  const leaseToken = `${token}/${row.event}`;
  const payload = sealed && openPayload(sealer, row, sealed);
  const progress = readProgress(stored);
  return { ...item, leaseToken, ...(payload && { payload }), ...(progress && { progress }) };
}

/** Due time of the next event of the stage that nobody has leased; ms since the Unix epoch. @throws {store-unavailable} */
export async function nextDueAt(db: Database, stage: Stage): Promise<number | undefined> {
  return (await db.get<{ dueAt: number }>(NEXT_DUE_AT, { stage }))?.dueAt;
}

/**
 * Ends all leases: only for the one worker of a store, when it starts. What the last worker had leased when it died,
 * and what `makeDue` names, is due at once.
 */
export async function forgetLeases(
  { db, instance }: { db: Database; instance: string },
  now: number,
): Promise<void> {
  await db.exclusive(async (tx) => {
    // An instance that was frozen does not know yet that it was followed.
    if (await tx.get(WORKED_ON_BY_OTHER, { instance })) return;
    await tx.run(FORGET_LEASES);
    for (const { event } of await tx.all<{ event: number }>(CAME_AGAIN))
      await tx.run(REQUEUE_REPEATED, { event, leaseToken: undefined });
    send(tx, DUE_AT_START, { now });
  });
}

/**
 * Has due at once what another configuration may let through: what nobody has begun, what lacked its partner, and what
 * waits for the tracker or was refused by it. Who found nobody is looked for again when no replica can lag any more.
 */
export async function makeDue(db: Database, now: number): Promise<void> {
  await db.exclusive((tx) => tx.run(DUE_NOW, { now }));
}

/** Gives an item back as it is, so that it can be leased at once. */
export async function giveBack(db: Database, item: WorkItem): Promise<void> {
  await db.exclusive(async (tx) => {
    send(tx, GIVE_BACK, leaseOf(item));
    send(tx, REQUEUE_REPEATED, leaseOf(item));
  });
}

/** Keeps the progress and renews the lease. False: the lease was lost. */
export function saveProgress(
  db: Database,
  item: WorkItem,
  progress: EventProgress,
  now: number,
): Promise<boolean> {
  const until = now + EVENT_LEASE_MS;
  const row = { ...leaseOf(item), progress: JSON.stringify(progress), until };
  return db.exclusive(async (tx) => (await tx.run(SAVE_PROGRESS, row)) > 0);
}

type NextTry = {
  dueAt: number;
  attempts: number;
  lastError?: EventErrorCode;
  progress?: EventProgress;
  /** For its history; absent: it only waits. */
  step?: EventStep;
};

/** Gives the item back, due at `dueAt`. False: the lease was lost. */
export function reschedule(
  db: Database,
  item: WorkItem,
  { dueAt, attempts, lastError, progress, step }: NextTry,
): Promise<boolean> {
  const json = { progress: toJson(progress), step: toJson(step) };
  const row = { ...leaseOf(item), ...json, dueAt, attempts, lastError };
  return db.exclusive(async (tx) => {
    const isMine = tx.run(RESCHEDULE, row);
    send(tx, REQUEUE_REPEATED, leaseOf(item));
    return (await isMine) > 0;
  });
}

/** An item that only waits: it spends no try. */
export type Postponed = {
  item: WorkItem;
  progress: EventProgress;
  dueAt: number;
  lastError?: EventErrorCode;
};

/** Gives all of them back, each with its progress and due at its instant, in one transaction. */
export async function postpone(db: Database, postponed: readonly Postponed[]): Promise<void> {
  const items = toRecords(postponed.map(({ item, ...next }) => ({ ...leaseOf(item), ...next })));
  const events = postponed.map(({ item }) => item.event);
  await db.exclusive(async (tx) => {
    const again = await tx.all<{ event: number }>(CAME_AGAIN_OF, { events });
    send(tx, POSTPONE, { items });
    for (const { event } of again) send(tx, REQUEUE_REPEATED, { event, leaseToken: undefined });
  });
}

/** Should an alarm ever be missed. */
const LOOK_EVERY_MS = 5 * SECOND;

/** Takes events from the store, and sees to it that none stays taken when the store fails half-way. */
export type Leasing = {
  /** @see leaseEvents */
  lease(stage: Stage, limit: number, choice?: Choice): Promise<readonly WorkItem[]>;
  /** Works on leased items: when that throws, they are given back before the next are leased. */
  workOn<T>(items: readonly WorkItem[], work: () => Promise<T>): Promise<T>;
  /** Time until an event of the stage is due, 5 s at most; in ms. @throws {store-unavailable} */
  waitMs(stage: Stage): Promise<number>;
};

export function createLeasing({
  db,
  instance,
  sealer,
  clock,
  waitMaxMs,
}: {
  db: Database;
  /** Holder of the right to work: while another one has it, nothing is leased here. */
  instance: string;
  /** Opens the bytes of events. */
  sealer: Sealer;
  clock: Pick<Clock, 'now'>;
  /** No event of the stage ever waits longer than this, in ms. */
  waitMaxMs: (stage: Stage) => number;
}): Leasing {
  let unreturned: readonly WorkItem[] = [];
  const giveBackUnreturned = async (): Promise<void> => {
    const items = unreturned;
    if (items.length === 0) return;
    await Promise.all(items.map((item) => giveBack(db, item)));
    unreturned = unreturned.filter((item) => !items.includes(item));
  };
  return {
    lease: async (stage, limit, choice) => {
      await giveBackUnreturned();
      const due = { now: clock.now(), limit, choice, aheadMaxMs: waitMaxMs(stage) };
      return leaseEvents({ db, instance, sealer }, stage, due);
    },
    workOn: async (items, work) => {
      try {
        return await work();
      } catch (error) {
        unreturned = [...unreturned, ...items];
        throw error;
      }
    },
    waitMs: async (stage) => {
      const dueAt = await nextDueAt(db, stage);
      if (dueAt === undefined) return LOOK_EVERY_MS;
      return Math.min(LOOK_EVERY_MS, Math.max(1, dueAt - clock.now()));
    },
  };
}
