import type { NewId } from '#shared/ids.ts';
import { SECOND } from '#shared/clock.ts';
import {
  readProgress,
  type ActProgress,
  type DeletionProgress,
} from '#partners/deletion-progress.ts';
import { payloadIdentity, type PayloadSealer } from '#partners/payload.ts';
import { matchLeads, type DirectoryView, type MatchName } from '#partners/match.ts';
import type { EventNote } from '#partners/receipt.ts';
import type { SettleResult, WorkItem, WorkStore } from '#partners/work-store.ts';
import { createAuditLog, type AuditLog } from './audit-log.ts';
import { createClaimWriter, type ClaimOrder, type ClaimWriter, toLeadIds } from './claim-writer.ts';
import type { Database } from './database.ts';
import { createDirectoryView } from './directory-view.ts';
import { guard } from './errors.ts';
import { createGroupCommit } from './group-commit.ts';
import { prepareWork, type DueRow, type WorkStatements } from './work-sql.ts';

/** Longer than any one step takes, and short enough to resume within half a minute of a crash. */
const LEASE_MS = 25 * SECOND;

export type WorkStoreDeps = {
  database: Database;
  sealer: PayloadSealer;
  newId: NewId;
  /** `owner/name`, in any case. */
  repository: string;
};

type Runtime = WorkStoreDeps & { sql: WorkStatements; claims: ClaimWriter; audit: AuditLog };

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
  const changedElsewhere = createChangeWatcher(database);
  const directory = createDirectoryView(database, repository);
  return {
    lease: async (stage, now, limit) =>
      database.transaction(() =>
        sql.due.all({ stage, now, limit }).map((row) => leaseRow(runtime, row, now)),
      ),
    nextDueAt: async (stage) => guard(() => sql.nextDueAt.get(stage)),
    changedElsewhere: async () => guard(changedElsewhere),
    forgetLeases: (now) =>
      together(() => {
        sql.forgetLeases.run();
        for (const event of sql.cameAgain.all()) sql.startAgain.run({ event, lease: '' });
        sql.dueNow.run({ now });
      }),
    moveBack: (by) => together(() => void sql.moveBack.run({ by })),
    match: async (names) => ({ ...matchLeads(names, directory), ...unknownOf(names, directory) }),
    giveBack: (item) =>
      together(() => {
        if (sql.giveBack.run(fence(item)).changes > 0) sql.startAgain.run(fence(item));
      }),
    claim: (...match) => together(() => claim(runtime, ...match)),
    confirm: (...match) => together(() => confirm(runtime, ...match)),
    held: async ({ event }) => guard(() => held(runtime, event)),
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
    counts: async () => guard(() => toCounts(sql.counts.get())),
    scrub: async () => database.truncateLog(),
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

function fence({ event, lease }: WorkItem): { event: number; lease: string } {
  return { event, lease };
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

function claim(
  runtime: Runtime,
  ...[item, match, { now, ...next }]: Parameters<WorkStore['claim']>
): readonly number[] | undefined {
  if (runtime.sql.isMine.get(fence(item)) === undefined) return undefined;
  const order = orderOf(runtime, item, match.leads);
  if (order) {
    runtime.claims.claim(order, now);
    withdraw(runtime, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
  }
  return keepMatch(runtime, item, { ...next, note: noteOf(match) });
}

function confirm(
  runtime: Runtime,
  ...[item, match, { actions, now }]: Parameters<WorkStore['confirm']>
): readonly number[] | undefined {
  const { sql, claims } = runtime;
  if (sql.isMine.get(fence(item)) === undefined) return undefined;
  const order = orderOf(runtime, item, match.leads);
  if (order) {
    claims.confirm(order, now);
    withdraw(runtime, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
  }
  withdrawAll(runtime, item, { reason: 'better-match', now });
  const leads = held(runtime, item.event).map((number) => ({ number, state: 'open' as const }));
  const progress: ActProgress = { stage: 'act', actions: [...actions], leads };
  return keepMatch(runtime, item, { progress, dueAt: now, attempts: 0, note: noteOf(match) });
}

const CONFLICT: EventNote = 'lead-id-conflict';

function noteOf({ conflicts }: { conflicts: readonly number[] }): EventNote | null {
  return conflicts.length > 0 ? CONFLICT : null;
}

/** What an operator would ask of a lead that was out of sight for a while: why, and why no more. */
function withdraw(
  { claims, audit }: Runtime,
  order: ClaimOrder,
  { reason, now }: { reason: string; now: number },
): void {
  for (const number of claims.withdraw(order))
    audit.append({
      at: now,
      actor: { kind: 'system', subject: 'worker' },
      action: 'claim.withdraw',
      subject: `claim/${number}`,
      changes: { receiptId: order.receiptId, reason },
    });
}

/** Everything that no match has confirmed. False: there was nothing. */
function withdrawAll(
  runtime: Runtime,
  item: WorkItem,
  why: { reason: string; now: number },
): boolean {
  const order = orderOf(runtime, item, []);
  if (!order) return false;
  const numbers = runtime.claims.provisional(order.repositoryId, item.event);
  withdraw(runtime, { ...order, numbers }, why);
  return numbers.length > 0;
}

/** Undefined while the store does not know which repository the configured name means. */
function orderOf(
  { sql, repository }: Runtime,
  { event, receiptId }: WorkItem,
  numbers: readonly number[],
): ClaimOrder | undefined {
  const repositoryId = sql.repositoryId.get(repository.toLowerCase());
  return repositoryId === undefined ? undefined : { repositoryId, receiptId, event, numbers };
}

function keepMatch(
  runtime: Runtime,
  item: WorkItem,
  {
    progress,
    ...next
  }: { progress: DeletionProgress; dueAt: number; attempts: number; note: EventNote | null },
): readonly number[] {
  const { sql } = runtime;
  const leads = held(runtime, item.event);
  sql.matched.run({
    ...fence(item),
    ...next,
    progress: JSON.stringify(progress),
    leadIds: toLeadIds(leads),
  });
  sql.startAgain.run(fence(item));
  return leads;
}

/** Only leads of the repository that the configured name means now: others must not be touched. */
function held({ sql, claims, repository }: Runtime, event: number): number[] {
  const repositoryId = sql.repositoryId.get(repository.toLowerCase());
  return repositoryId === undefined ? [] : claims.held(repositoryId, event);
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
