import type { NewId } from '#shared/ids.ts';
import { SECOND } from '#shared/clock.ts';
import { readProgress } from '#partners/deletions/deletion-progress.ts';
import { payloadIdentity, type PayloadSealer } from '#partners/receipts/payload.ts';
import { matchLeads, type DirectoryView, type MatchName } from '#partners/deletions/match.ts';
import type { SettleResult, WorkItem, WorkStore } from '#partners/worker/work-store.ts';
import type { Database } from '../database.ts';
import { createAuditLog } from '../audit-log.ts';
import { createClaimWriter, toLeadIds } from '../claims/write.ts';
import { createDirectoryView } from '../directory/view.ts';
import { guard } from '../errors.ts';
import { createGroupCommit } from '../group-commit.ts';
import { createLateLooks } from './late-looks.ts';
import { claim, confirm, fence, held, withdrawAll, type MatchRuntime } from './matches.ts';
import { prepareWork, type DueRow, type WorkStatements } from './statements.ts';

/** Longer than any one step takes, and short enough to resume within half a minute of a crash. */
const LEASE_MS = 25 * SECOND;

export type WorkStoreDeps = {
  database: Database;
  sealer: PayloadSealer;
  newId: NewId;
  /** `owner/name`, in any case. */
  repository: string;
};

type Runtime = WorkStoreDeps & MatchRuntime;

/** The worker's store in SQLite. Events that are matched at the same time share one commit. */
export function createWorkStore(deps: WorkStoreDeps): WorkStore {
  const { database, repository } = deps;
  const sql = guard(() => prepareWork(database.handle));
  const runtime: Runtime = {
    ...deps,
    sql,
    claims: createClaimWriter(database),
    audit: createAuditLog(database),
  };
  const commit = createGroupCommit<() => unknown, unknown>(database, (write) => write());
  const together = <T>(write: () => T): Promise<T> => commit(write) as Promise<T>;
  const directory = createDirectoryView(database, repository);
  return {
    ...createLeasing(runtime, together),
    match: async (names, createdBefore) => ({
      ...matchLeads(names, directory, createdBefore),
      ...unknownOf(names, directory),
    }),
    giveBack: (item) =>
      together(() => {
        if (sql.giveBack.run(fence(item)).changes > 0) sql.startAgain.run(fence(item));
      }),
    claim: (...match) => together(() => claim(runtime, ...match)),
    confirm: (...match) => together(() => confirm(runtime, ...match)),
    held: async ({ event }) => guard(() => held(runtime, event)),
    heldInHand: async (item) =>
      guard(() =>
        sql.isMine.get(fence(item)) === undefined ? undefined : held(runtime, item.event),
      ),
    holdsElsewhere: async ({ event }) =>
      guard(() => sql.heldElsewhere.get(event, repository.toLowerCase()) !== undefined),
    saveProgress: async (item, progress, now) =>
      guard(() => {
        const row = { ...fence(item), progress: JSON.stringify(progress), until: now + LEASE_MS };
        return sql.progress.run(row).changes > 0;
      }),
    reschedule: (...due) => together(() => reschedule(sql, ...due)),
    postpone: async (postponed) =>
      database.transaction(() => {
        for (const { item, ...next } of postponed)
          reschedule(sql, item, { ...next, attempts: item.attempts });
      }),
    settle: (...end) => together(() => settle(runtime, ...end)),
    ...createLateLooks(runtime, together),
    counts: async () => guard(() => toCounts(sql.counts.get())),
    scrub: async () => database.truncateLog(),
  };
}

type Leasing = Pick<
  WorkStore,
  'lease' | 'nextDueAt' | 'changedElsewhere' | 'forgetLeases' | 'moveBack'
>;

function createLeasing(runtime: Runtime, together: <T>(write: () => T) => Promise<T>): Leasing {
  const { database, sql } = runtime;
  const changedElsewhere = createChangeWatcher(database);
  return {
    lease: async (stage, now, limit, aheadMaxMs = Infinity) =>
      database.transaction(() => {
        sql.dueTooLate.run({ stage, now, latest: now + aheadMaxMs });
        return sql.due.all({ stage, now, limit }).map((row) => leaseRow(runtime, row, now));
      }),
    nextDueAt: async (stage) => guard(() => sql.nextDueAt.get(stage)),
    changedElsewhere: async () => guard(changedElsewhere),
    forgetLeases: (now) =>
      together(() => {
        sql.forgetLeases.run();
        for (const event of sql.cameAgain.all()) sql.startAgain.run({ event, lease: '' });
        sql.dueNow.run({ now });
        sql.looksNow.run({ now });
      }),
    moveBack: (by, now) =>
      together(() => {
        sql.moveBack.run({ by, now });
        sql.moveLooksBack.run({ by });
      }),
  };
}

function unknownOf(
  names: readonly MatchName[],
  directory: DirectoryView,
): { unknownLeadId?: number } {
  const leadId = names.find((name) => name.kind === 'lead-id');
  return leadId && !directory.has(leadId.number) ? { unknownLeadId: leadId.number } : {};
}

/** @see https://www.sqlite.org/pragma.html#pragma_data_version */
function createChangeWatcher({ handle }: Database): () => boolean {
  const read = handle.prepare<[], number>('PRAGMA data_version').pluck();
  let seen: number | undefined;
  return () => {
    const before = seen;
    seen = read.get();
    return seen !== before;
  };
}

function reschedule(
  sql: WorkStatements,
  ...[item, { dueAt, attempts, lastError, progress }]: Parameters<WorkStore['reschedule']>
): boolean {
  const row = {
    ...fence(item),
    dueAt,
    attempts,
    lastError: lastError ?? null,
    progress: progress ? JSON.stringify(progress) : null,
  };
  if (sql.reschedule.run(row).changes === 0) return false;
  sql.startAgain.run(fence(item));
  return true;
}

function leaseRow({ sql, sealer, newId }: Runtime, row: DueRow, now: number): WorkItem {
  const lease = newId();
  sql.lease.run({ event: row.event, lease, until: now + LEASE_MS });
  const payload = row.payload && openPayload(sealer, row, row.payload);
  const progress = readProgress(row.progress);
  return {
    event: row.event,
    receiptId: row.receiptId,
    partnerId: row.partnerId,
    path: row.path,
    dueAt: row.dueAt,
    attempts: row.attempts,
    lease,
    ...(payload && { payload }),
    ...(progress && { progress }),
  };
}

/** Undefined when it was sealed under another secret key. */
function openPayload(
  sealer: PayloadSealer,
  { receiptId, position }: DueRow,
  sealed: Buffer,
): Buffer | undefined {
  try {
    return sealer.open(payloadIdentity(receiptId, position), sealed);
  } catch {
    return undefined;
  }
}

function settle(
  runtime: Runtime,
  ...[item, settlement, now]: Parameters<WorkStore['settle']>
): SettleResult {
  const { sql } = runtime;
  const { outcome, attempts, erasure = null, note = null, lastError = null } = settlement;
  if (sql.startAgain.run(fence(item)).changes > 0) return 'again';
  const row = { ...fence(item), outcome, attempts, erasure, note, lastError, now };
  if (sql.settle.run(row).changes === 0) return 'lost';
  if (outcome === 'UNMATCHED' && withdrawAll(runtime, item, { reason: 'unmatched', now }))
    sql.leadIds.run({ event: item.event, leadIds: toLeadIds(held(runtime, item.event)) });
  const receipt = sql.receiptOf.get(item.event);
  if (receipt !== undefined) sql.refreshReceipt.run(receipt);
  return 'settled';
}

function toCounts(row: ReturnType<WorkStatements['counts']['get']>) {
  const { open = 0, deadLetters = 0, oldestReceivedAt = null } = row ?? {};
  return { open, deadLetters, ...(oldestReceivedAt !== null && { oldestReceivedAt }) };
}
