import type { NewId } from '#shared/ids.ts';
import { SECOND } from '#shared/clock.ts';
import { readProgress, type DeletionProgress } from '#partners/deletion-progress.ts';
import { payloadIdentity, type PayloadSealer } from '#partners/payload.ts';
import { matchLeads } from '#partners/match.ts';
import type { WorkItem, WorkStore } from '#partners/work-store.ts';
import { createClaimWriter, type ClaimWriter } from './claim-writer.ts';
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

type Runtime = WorkStoreDeps & { sql: WorkStatements; claims: ClaimWriter };

/** The worker's store in SQLite. Events that are matched at the same time share one commit. */
export function createWorkStore(deps: WorkStoreDeps): WorkStore {
  const { database, repository } = deps;
  const sql = guard(() => prepareWork(database.handle));
  const runtime: Runtime = { ...deps, sql, claims: createClaimWriter(database) };
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
    match: async (names) => matchLeads(names, directory),
    giveBack: (item) =>
      together(() => {
        if (sql.giveBack.run(fence(item)).changes > 0) sql.startAgain.run(fence(item));
      }),
    claim: (...match) => together(() => claim(runtime, ...match)),
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
    settle: (...end) => together(() => settle(sql, ...end)),
    counts: async () => guard(() => toCounts(sql.counts.get())),
    scrub: async () => database.truncateLog(),
  };
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
  ...[item, change, { progress, dueAt, now }]: Parameters<WorkStore['claim']>
): readonly number[] | undefined {
  const { sql, claims, repository } = runtime;
  if (sql.isMine.get(fence(item)) === undefined) return undefined;
  const { event, receiptId } = item;
  const repositoryId = sql.repositoryId.get(repository.toLowerCase());
  if (repositoryId !== undefined) {
    claims.withdraw({ repositoryId, receiptId, event, numbers: change.withdraw });
    claims.claim({ repositoryId, receiptId, event, numbers: change.claim }, now);
  }
  const leads = held(runtime, event);
  sql.matched.run({
    ...fence(item),
    progress: JSON.stringify(withLeads(progress, leads)),
    leadIds: leads.length > 0 ? JSON.stringify(leads.map(String)) : null,
    dueAt,
  });
  sql.startAgain.run(fence(item));
  return leads;
}

/** Only leads of the repository that the configured name means now: others must not be touched. */
function held({ sql, claims, repository }: Runtime, event: number): number[] {
  const repositoryId = sql.repositoryId.get(repository.toLowerCase());
  return repositoryId === undefined ? [] : claims.held(repositoryId, event);
}

function withLeads(progress: DeletionProgress, held: readonly number[]): DeletionProgress {
  if (progress.stage === 'match' || progress.leads.length > 0) return progress;
  return { ...progress, leads: held.map((number) => ({ number, state: 'open' })) };
}

function settle(
  sql: WorkStatements,
  ...[item, settlement, now]: Parameters<WorkStore['settle']>
): boolean {
  const { outcome, attempts, erasure = null, note = null, lastError = null } = settlement;
  if (sql.startAgain.run(fence(item)).changes > 0) return true;
  const row = { ...fence(item), outcome, attempts, erasure, note, lastError, now };
  if (sql.settle.run(row).changes === 0) return false;
  const receipt = sql.receiptOf.get(item.event);
  if (receipt !== undefined) sql.refreshReceipt.run(receipt);
  return true;
}

function toCounts(row: ReturnType<WorkStatements['counts']['get']>) {
  const { open = 0, deadLetters = 0, oldestReceivedAt = null } = row ?? {};
  return { open, deadLetters, ...(oldestReceivedAt !== null && { oldestReceivedAt }) };
}
