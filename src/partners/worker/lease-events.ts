import { SECOND } from '#shared/clock.ts';
import type { EventProgress } from './progress.ts';
import type { Stage, WorkItem, WorkStore } from './work-store.ts';
import { REQUEUE_REPEATED, WITH_GIVEN_STEP } from '../receipts/requeue.ts';
import type { Tx } from '#shared/database.ts';
import { either, toJson } from '#shared/sql.ts';
import { DUE } from './due-events.ts';
import { IS_MINE, type LeasedEvent, settle } from './match/keep-matches.ts';

const DUE_TOO_LATE = `
  UPDATE event SET due_at = @now
  WHERE outcome = 'PENDING' AND stage = @stage AND due_at > @latest`;

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

const DUE_NOW = `
  UPDATE event SET due_at = @now
  WHERE outcome = 'PENDING' AND due_at > @now AND (progress IS NULL OR last_error = 'partner-unknown')`;

const GIVE_BACK = `
  UPDATE event SET lease_token = NULL, lease_until = NULL WHERE ${IS_MINE}`;

const SAVE_PROGRESS = `
  UPDATE event SET progress = @progress, lease_until = @until WHERE ${IS_MINE}`;

const RESCHEDULE = `
  UPDATE event SET due_at = @dueAt, attempts = @attempts, last_error = @lastError,
    progress = coalesce(@progress, progress), lease_token = NULL, lease_until = NULL,
    history = ${WITH_GIVEN_STEP}
  WHERE ${IS_MINE}`;

/** Longer than any one step takes, and short enough to resume within half a minute of a crash. */
const EVENT_LEASE_MS = 25 * SECOND;

/** A leased event as it is stored. */
export type LeasedRow = Omit<WorkItem, 'progress'> & { progress?: string };

type Due = { stage: Stage; now: number; limit: number; latest: number | undefined };

type Next = Parameters<WorkStore['reschedule']>[1];

/** `repository` is `owner/name` in lower case; `instance` who works. */
export const workWrites = {
  /** Each event is leased under `token` and its own number. */
  lease: async (
    session: Tx,
    { latest, ...due }: Due,
    { instance, token }: { instance: string; token: string },
  ): Promise<LeasedRow[]> => {
    const [follower, , rows] = await Promise.all([
      session.get(WORKED_ON_BY_OTHER, { instance }),
      latest !== undefined && session.run(DUE_TOO_LATE, { ...due, latest }),
      session.all<Omit<LeasedRow, 'lease'>>(DUE, due),
    ]);
    if (follower) return [];
    const events = rows.map(({ event }) => event);
    if (rows.length > 0)
      void session.run(LEASE, { events, token, until: due.now + EVENT_LEASE_MS });
    return rows.map((row) => ({ ...row, lease: `${token}/${row.event}` }));
  },
  giveBack: async (session: Tx, item: LeasedEvent): Promise<void> => {
    if ((await session.run(GIVE_BACK, item)) > 0) await session.run(REQUEUE_REPEATED, item);
  },
  forgetLeases: async (session: Tx, instance: string, now: number): Promise<void> => {
    if (await isFollowed(session, instance)) return;
    await session.run(FORGET_LEASES);
    for (const { event } of await session.all<{ event: number }>(CAME_AGAIN))
      await session.run(REQUEUE_REPEATED, { event, lease: undefined });
    await session.run(DUE_NOW, { now });
  },
  saveProgress: async (
    session: Tx,
    item: LeasedEvent,
    progress: EventProgress,
    now: number,
  ): Promise<boolean> => {
    const row = { ...item, progress: JSON.stringify(progress), until: now + EVENT_LEASE_MS };
    return (await session.run(SAVE_PROGRESS, row)) > 0;
  },
  reschedule,
  postpone: async (
    session: Tx,
    postponed: readonly { item: LeasedEvent; next: Next }[],
  ): Promise<void> => {
    for (const { item, next } of postponed) await reschedule(session, item, next);
  },
  settle,
};

/** A process that was frozen does not know yet that it was followed. */
async function isFollowed(session: Tx, instance: string): Promise<boolean> {
  return (await session.get(WORKED_ON_BY_OTHER, { instance })) !== undefined;
}

async function reschedule(
  session: Tx,
  item: LeasedEvent,
  { dueAt, attempts, lastError, progress, step }: Next,
): Promise<boolean> {
  const json = { progress: toJson(progress), step: toJson(step) };
  const row = { ...item, ...json, dueAt, attempts, lastError };
  if ((await session.run(RESCHEDULE, row)) === 0) return false;
  await session.run(REQUEUE_REPEATED, item);
  return true;
}
