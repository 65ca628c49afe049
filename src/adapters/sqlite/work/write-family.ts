import { SECOND } from '#shared/clock.ts';
import type { DeletionProgress } from '#partners/deletions/deletion-progress.ts';
import type { SettleResult, Settlement, Stage, WorkStore } from '#partners/worker/work-store.ts';
import { createClaimWriter, toLeadIds } from '../claims/claim-leads.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';
import { lookAgain } from './late-looks.ts';
import { claim, confirm, fence, held, toJson, withdrawAll } from './matches.ts';
import type { LeasedEvent, MatchRuntime } from './matches.ts';
import { prepareWork } from './statements.ts';
import type { DueRow, WorkStatements } from './statements.ts';

/** Longer than any one step takes, and short enough to resume within half a minute of a crash. */
const LEASE_MS = 25 * SECOND;

/** `repository` is `owner/name`, in any case; `instance` who works. */
type WorkWriteOptions = { instance: string; repository: string };

type WorkWrites = ReturnType<typeof createWorkWrites>;

export const workWrites: WriteFamily<WorkWriteOptions, WorkWrites> = {
  name: 'work',
  create: createWorkWrites,
};

/** Everything after a function's first parameter. */
type Rest<F> = F extends (first: never, ...rest: infer R) => unknown ? R : never;

function createWorkWrites(connection: Connection, { instance, repository }: WorkWriteOptions) {
  const sql = prepareWork(connection.handle);
  const claims = createClaimWriter(connection);
  const runtime: MatchRuntime = { sql, claims, session: connection, repository };
  return {
    ...createLeaseWrites(sql, instance),
    claim: (item: LeasedEvent, ...rest: Rest<WorkStore['claim']>) => claim(runtime, item, ...rest),
    confirm: (item: LeasedEvent, ...rest: Rest<WorkStore['confirm']>) =>
      confirm(runtime, item, ...rest),
    reschedule: (item: LeasedEvent, next: Next) => reschedule(sql, item, next),
    postpone: (postponed: readonly { item: LeasedEvent; next: Next }[]): void => {
      for (const { item, next } of postponed) reschedule(sql, item, next);
    },
    saveProgress: (item: LeasedEvent, progress: DeletionProgress, now: number): boolean => {
      const row = { ...fence(item), progress: JSON.stringify(progress), until: now + LEASE_MS };
      return sql.progress.run(row).changes > 0;
    },
    settle: (item: LeasedEvent, settlement: Settlement, now: number) =>
      settle(runtime, item, { ...settlement, now }),
    lookAgain: (...input: Parameters<WorkStore['lookAgain']>) => lookAgain(runtime, ...input),
  };
}

function createLeaseWrites(sql: WorkStatements, instance: string) {
  /** A process that was frozen does not know yet that it was followed. */
  const isFollowed = (): boolean => sql.isWorkedOnByOther.get(instance) !== undefined;
  return {
    /** The rows are leased under `leases`, as many as there are of them. */
    lease: (stage: Stage, { now, latest }: Due, leases: readonly string[]): LeasedRow[] => {
      if (isFollowed()) return [];
      sql.dueTooLate.run({ stage, now, latest });
      return sql.due.all({ stage, now, limit: leases.length }).map((row, index) => {
        const lease = leases[index] ?? '';
        sql.lease.run({ event: row.event, lease, until: now + LEASE_MS });
        return { ...row, lease };
      });
    },
    giveBack: (item: LeasedEvent): void => {
      if (sql.giveBack.run(fence(item)).changes > 0) sql.requeueRepeated.run(fence(item));
    },
    forgetLeases: (now: number): void => {
      if (isFollowed()) return;
      sql.forgetLeases.run();
      for (const event of sql.cameAgain.all()) sql.requeueRepeated.run({ event, lease: '' });
      sql.dueNow.run({ now });
      sql.looksNow.run({ now });
    },
    moveBack: (by: number, now: number): void => {
      sql.moveBack.run({ by, now });
      sql.moveLooksBack.run({ by });
    },
  };
}

type LeasedRow = DueRow & { lease: string };

/** Instants in milliseconds since the Unix epoch; `latest` may be Infinity. */
type Due = { now: number; latest: number };

type Next = Parameters<WorkStore['reschedule']>[1];

function reschedule(
  sql: WorkStatements,
  item: LeasedEvent,
  { dueAt, attempts, lastError, progress, step }: Next,
): boolean {
  const row = {
    ...fence(item),
    dueAt,
    attempts,
    lastError: lastError ?? null,
    progress: toJson(progress),
    step: toJson(step),
  };
  if (sql.reschedule.run(row).changes === 0) return false;
  sql.requeueRepeated.run(fence(item));
  return true;
}

async function settle(
  runtime: MatchRuntime,
  item: LeasedEvent,
  settlement: Settlement & { now: number },
): Promise<SettleResult> {
  const { sql } = runtime;
  const { outcome, attempts, erasure = null, note = null, lastError = null, now } = settlement;
  if (sql.requeueRepeated.run(fence(item)).changes > 0) return 'again';
  const row = { ...fence(item), outcome, attempts, erasure, note, lastError, now };
  if (sql.settle.run(row).changes === 0) return 'lost';
  if (outcome === 'UNMATCHED' && (await withdrawAll(runtime, item, { reason: 'unmatched', now })))
    sql.leadIds.run({ event: item.event, leadIds: toLeadIds(held(runtime, item.event)) });
  const receipt = sql.receiptOf.get(item.event);
  if (receipt !== undefined) sql.refreshReceipt.run(receipt);
  return 'settled';
}
