import { SECOND } from '#shared/clock.ts';
import { readProgress } from '#partners/deletions/deletion-progress.ts';
import { openPayload } from '#partners/receipts/payload.ts';
import type { PayloadSealer } from '#partners/receipts/payload.ts';
import type { WorkItem, WorkStore } from '#partners/worker/work-store.ts';
import type { NewId } from '#shared/ids.ts';
import type { Database } from '../connection/database.ts';
import type { GroupCommit } from '../group-commit.ts';
import { REQUEUE_REPEATED } from '../receipt/requeue.ts';
import { createVersionReader } from '../connection/data-version.ts';
import * as sql from './statements.ts';
import type { MatchRuntime } from './matches.ts';

export type WorkStoreDeps = {
  database: Database;
  /** Shared with the store of receipts. */
  groupCommit: GroupCommit;
  /** Who takes the worker's lease: while another one has it, nothing is leased here. */
  instance: string;
  sealer: PayloadSealer;
  newId: NewId;
  /** `owner/name`, in any case. */
  repository: string;
};

/** Writes of the worker that come at the same time share one commit. */
export type Together = <T>(write: (runtime: MatchRuntime) => Promise<T>) => Promise<T>;

/** Longer than any one step takes, and short enough to resume within half a minute of a crash. */
export const LEASE_MS = 25 * SECOND;

type Leasing = Pick<
  WorkStore,
  'lease' | 'nextDueAt' | 'changedElsewhere' | 'forgetLeases' | 'moveBack'
>;

/** Which event is whose. */
export function createLeasing(
  { database, instance, sealer, newId }: WorkStoreDeps,
  together: Together,
): Leasing {
  const version = createVersionReader(database);
  let seen: number | undefined;
  return {
    lease: (stage, now, limit, aheadMaxMs) =>
      together(async ({ session }) => {
        if (aheadMaxMs !== undefined)
          await session.run(sql.DUE_TOO_LATE, { stage, now, latest: now + aheadMaxMs });
        const values = { stage, now, limit, instance, token: newId(), until: now + LEASE_MS };
        const rows = await session.all<LeasedRow>(sql.LEASE, values);
        return rows.map((row) => toItem(sealer, row));
      }),
    nextDueAt: async (stage) =>
      (await database.get<{ dueAt: number }>(sql.NEXT_DUE_AT, { stage }))?.dueAt,
    changedElsewhere: async () => {
      const before = seen;
      seen = await version();
      return seen !== before;
    },
    forgetLeases: (now) =>
      together(async ({ session }) => {
        if (await session.get(sql.WORKED_ON_BY_OTHER, { instance })) return;
        await session.run(sql.FORGET_LEASES);
        for (const { event } of await session.all<{ event: number }>(sql.CAME_AGAIN))
          await session.run(REQUEUE_REPEATED, { event, lease: null });
        await session.run(sql.DUE_NOW, { now });
        await session.run(sql.LOOKS_NOW, { now });
      }),
    moveBack: (by, now) =>
      together(async ({ session }) => {
        await session.run(sql.MOVE_BACK, { by, now });
        await session.run(sql.MOVE_LOOKS_BACK, { by });
      }),
  };
}

type LeasedRow = Omit<WorkItem, 'payload' | 'progress' | 'traceparent'> & {
  position: number;
  payload: Buffer | null;
  progress: string | null;
  traceparent: string | null;
};

function toItem(sealer: PayloadSealer, row: LeasedRow): WorkItem {
  const { position: _position, payload: sealed, progress: stored, traceparent, ...item } = row;
  const payload = sealed && openPayload(sealer, row, sealed);
  const progress = readProgress(stored);
  return {
    ...item,
    ...(payload && { payload }),
    ...(progress && { progress }),
    ...(traceparent !== null && { traceparent }),
  };
}
