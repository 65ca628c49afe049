import { matchLeads } from '#partners/deletions/match/match.ts';
import type { DirectoryView, MatchName } from '#partners/deletions/match/match.ts';
import type { SettleResult, WorkCounts, WorkStore } from '#partners/worker/work-store.ts';
import { present } from '#shared/store/row.ts';
import type { RowOf } from '#shared/store/row.ts';
import type { Session } from '../connection/database.ts';
import { toLeadIds } from '../claims/claim-leads.ts';
import { readDirectoryView } from '../directory/view.ts';
import type { GroupCommit } from '../group-commit.ts';
import { REFRESH_RECEIPT_STATUS } from '../receipt/status.ts';
import { REQUEUE_REPEATED } from '../receipt/requeue.ts';
import { createLateLooks } from './late-looks.ts';
import { createLeasing, LEASE_MS } from './leases.ts';
import type { Together, WorkStoreDeps } from './leases.ts';
import { claim, confirm, fence, held, isMine, toJson, withdrawAll } from './matches.ts';
import type { MatchRuntime } from './matches.ts';
import * as sql from './statements.ts';

/** The worker's store in PostgreSQL. */
export function createWorkStore(deps: WorkStoreDeps): WorkStore {
  const { database } = deps;
  const name = deps.repository.toLowerCase();
  const alone: MatchRuntime = { session: database, repository: name };
  const together = createTogether(deps.groupCommit, name);
  return {
    ...createLeasing(deps, together),
    ...createItemReads(alone),
    giveBack: (item) =>
      together(async ({ session }) => {
        if ((await session.run(sql.GIVE_BACK, fence(item))) > 0)
          await session.run(REQUEUE_REPEATED, fence(item));
      }),
    claim: (...match) => together((runtime) => claim(runtime, ...match)),
    confirm: (...match) => together((runtime) => confirm(runtime, ...match)),
    saveProgress: (item, progress, now) =>
      together(async ({ session }) => {
        const row = { ...fence(item), progress: JSON.stringify(progress), until: now + LEASE_MS };
        return (await session.run(sql.SAVE_PROGRESS, row)) > 0;
      }),
    reschedule: (...due) => together(({ session }) => reschedule(session, ...due)),
    postpone: (postponed) =>
      together(async ({ session }) => {
        for (const { item, ...next } of postponed)
          await reschedule(session, item, { ...next, attempts: item.attempts });
      }),
    settle: (...end) => together((runtime) => settle(runtime, ...end)),
    ...createLateLooks(alone, together),
    counts: async () => toCounts(await database.get<RowOf<WorkCounts>>(sql.COUNTS)),
    // What was dropped stays in the server's files until it cleans them up; it was encrypted.
    scrub: async () => true,
  };
}

type ItemReads = Pick<WorkStore, 'match' | 'held' | 'heldUnderLease' | 'holdsElsewhere'>;

function createItemReads(runtime: MatchRuntime): ItemReads {
  const { session, repository } = runtime;
  return {
    match: async (names, createdBefore) => {
      const directory = await readDirectoryView(session, repository, names);
      return { ...matchLeads(names, directory, createdBefore), ...unknownOf(names, directory) };
    },
    held: ({ event }) => held(runtime, event),
    heldUnderLease: async (item) =>
      (await isMine(runtime, item)) ? held(runtime, item.event) : undefined,
    holdsElsewhere: async ({ event }) =>
      (await session.get(sql.HELD_ELSEWHERE, { event, name: repository })) !== undefined,
  };
}

function createTogether(groupCommit: GroupCommit, repository: string): Together {
  const commit = groupCommit.open<(runtime: MatchRuntime) => Promise<unknown>, unknown>({
    write: async (session, writes) => {
      const results: unknown[] = [];
      for (const write of writes) results.push(await write({ session, repository }));
      return results;
    },
  });
  return <T>(write: (runtime: MatchRuntime) => Promise<T>) => commit(write) as Promise<T>;
}

function unknownOf(
  names: readonly MatchName[],
  directory: DirectoryView,
): { unknownLeadId?: number } {
  const leadId = names.find((name) => name.kind === 'lead-id');
  return leadId && !directory.has(leadId.number) ? { unknownLeadId: leadId.number } : {};
}

async function reschedule(
  session: Session,
  ...[item, { dueAt, attempts, lastError, progress, step }]: Parameters<WorkStore['reschedule']>
): Promise<boolean> {
  const row = {
    ...fence(item),
    dueAt,
    attempts,
    lastError: lastError ?? null,
    progress: toJson(progress),
    step: toJson(step),
  };
  if ((await session.run(sql.RESCHEDULE, row)) === 0) return false;
  await session.run(REQUEUE_REPEATED, fence(item));
  return true;
}

async function settle(
  runtime: MatchRuntime,
  ...[item, settlement, now]: Parameters<WorkStore['settle']>
): Promise<SettleResult> {
  const { session } = runtime;
  const { event } = item;
  const { outcome, attempts, erasure = null, note = null, lastError = null } = settlement;
  if ((await session.run(REQUEUE_REPEATED, fence(item))) > 0) return 'again';
  const row = { ...fence(item), outcome, attempts, erasure, note, lastError, now };
  const settled = await session.get<{ receipt: number }>(sql.SETTLE, row);
  if (!settled) return 'lost';
  if (outcome === 'UNMATCHED' && (await withdrawAll(runtime, item, { reason: 'unmatched', now })))
    await session.run(sql.SET_LEADS, { event, leadIds: toLeadIds(await held(runtime, event)) });
  await session.run(REFRESH_RECEIPT_STATUS, { receipts: [settled.receipt] });
  return 'settled';
}

function toCounts(row: RowOf<WorkCounts> | undefined): WorkCounts {
  return { open: 0, deadLetters: 0, lackedPartners: [], ...(row && (present(row) as WorkCounts)) };
}
