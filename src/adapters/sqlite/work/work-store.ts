import type { NewId } from '#shared/ids.ts';
import { readProgress } from '#partners/deletions/deletion-progress.ts';
import { openPayload } from '#partners/receipts/payload.ts';
import type { PayloadSealer } from '#partners/receipts/payload.ts';
import { matchLeads } from '#partners/deletions/match/match.ts';
import type { DirectoryView, MatchName } from '#partners/deletions/match/match.ts';
import type { WorkItem, WorkStore } from '#partners/worker/work-store.ts';
import type { Database } from '../connection/database.ts';
import { createClaimWriter } from '../claims/claim-leads.ts';
import { createDirectoryView } from '../directory/view.ts';
import { guard } from '../connection/errors.ts';
import type { Write } from '../writer/writer.ts';
import { fence, held } from './matches.ts';
import type { LeasedEvent } from './matches.ts';
import { prepareWorkReads } from './statements.ts';
import type { DueRow, WorkReads } from './statements.ts';
import { workWrites } from './write-family.ts';

export type WorkStoreDeps = {
  database: Database;
  /** Who takes the worker's lease: while another one has it, nothing is leased here. */
  instance: string;
  /** Opens the bytes of events; `receipt-store.ts` seals them. */
  sealer: PayloadSealer;
  newId: NewId;
  /** `owner/name`, in any case. */
  repository: string;
};

type Runtime = WorkStoreDeps & {
  sql: WorkReads;
  write: Write<ReturnType<typeof workWrites.create>>;
};

/** The worker's store in SQLite. */
export function createWorkStore(deps: WorkStoreDeps): WorkStore {
  const { database, instance, repository } = deps;
  const sql = guard(() => prepareWorkReads(database.handle));
  const write = database.writer.open(workWrites, { instance, repository });
  const runtime = { ...deps, sql, write };
  return {
    ...createLeasing(runtime),
    ...createItemReads(runtime),
    giveBack: (item) => write('giveBack', leased(item)),
    claim: (item, ...match) => write('claim', leased(item), ...match),
    confirm: (item, ...match) => write('confirm', leased(item), ...match),
    saveProgress: (item, ...progress) => write('saveProgress', leased(item), ...progress),
    reschedule: (item, next) => write('reschedule', leased(item), next),
    postpone: (postponed) =>
      write(
        'postpone',
        postponed.map(({ item, ...next }) => ({
          item: leased(item),
          next: { ...next, attempts: item.attempts },
        })),
      ),
    settle: (item, ...end) => write('settle', leased(item), ...end),
    dueLooks: async (now, limit) => guard(() => sql.dueLooks.all({ now, limit })),
    nextLookAt: async () => guard(() => sql.nextLookAt.get()),
    lookAgain: (...look) => write('lookAgain', ...look),
    counts: async () =>
      guard(() => ({ ...toCounts(sql.counts.get()), lackedPartners: sql.lackedPartners.all() })),
    scrub: () => database.writer.truncateLog(),
  };
}

function leased({ event, receiptId, lease }: WorkItem): LeasedEvent {
  return { event, receiptId, lease };
}

type ItemReads = Pick<WorkStore, 'match' | 'held' | 'heldUnderLease' | 'holdsElsewhere'>;

function createItemReads({ database, repository, sql }: Runtime): ItemReads {
  const directory = createDirectoryView(database, repository);
  const claims = createClaimWriter(database);
  const heldBy = (event: number): number[] => held({ sql, claims, repository }, event);
  return {
    match: async (names, createdBefore) => ({
      ...matchLeads(names, directory, createdBefore),
      ...unknownOf(names, directory),
    }),
    held: async ({ event }) => guard(() => heldBy(event)),
    heldUnderLease: async (item) =>
      guard(() => (sql.isMine.get(fence(item)) === undefined ? undefined : heldBy(item.event))),
    holdsElsewhere: async ({ event }) =>
      guard(() => sql.heldElsewhere.get(event, repository.toLowerCase()) !== undefined),
  };
}

type Leasing = Pick<
  WorkStore,
  'lease' | 'nextDueAt' | 'changedElsewhere' | 'forgetLeases' | 'moveBack'
>;

function createLeasing(runtime: Runtime): Leasing {
  const { database, sql, write, newId } = runtime;
  return {
    lease: async (stage, now, limit, aheadMaxMs = Infinity) => {
      const leases = Array.from({ length: limit }, () => newId());
      const rows = await write('lease', stage, { now, latest: now + aheadMaxMs }, leases);
      return rows.map((row) => toItem(runtime, row));
    },
    nextDueAt: async (stage) => guard(() => sql.nextDueAt.get(stage)),
    changedElsewhere: createChangeWatcher(database),
    forgetLeases: (now) => write('forgetLeases', now),
    moveBack: (by, now) => write('moveBack', by, now),
  };
}

function unknownOf(
  names: readonly MatchName[],
  directory: DirectoryView,
): { unknownLeadId?: number } {
  const leadId = names.find((name) => name.kind === 'lead-id');
  return leadId && !directory.has(leadId.number) ? { unknownLeadId: leadId.number } : {};
}

/**
 * What other processes have written: for the connection that writes here, everybody else is another.
 * While nobody at all has written, which this connection sees, the writing thread is left asleep.
 */
function createChangeWatcher({
  foreignVersion,
  writer,
}: Pick<Database, 'foreignVersion' | 'writer'>): () => Promise<boolean> {
  let seen: { byReader: number; byWriter: number } | undefined;
  return async () => {
    const byReader = foreignVersion();
    if (seen?.byReader === byReader) return false;
    const before = seen?.byWriter;
    const byWriter = await writer.foreignVersion();
    seen = { byReader, byWriter };
    return byWriter !== before;
  };
}

function toItem({ sealer }: Runtime, row: DueRow & { lease: string }): WorkItem {
  const payload = row.payload && openPayload(sealer, row, row.payload);
  const progress = readProgress(row.progress);
  return {
    event: row.event,
    receiptId: row.receiptId,
    partnerId: row.partnerId,
    path: row.path,
    dueAt: row.dueAt,
    attempts: row.attempts,
    lease: row.lease,
    ...(payload && { payload }),
    ...(progress && { progress }),
    ...(row.traceparent !== null && { traceparent: row.traceparent }),
  };
}

function toCounts(row: ReturnType<WorkReads['counts']['get']>) {
  const { open = 0, deadLetters = 0, oldestAskedAt = null } = row ?? {};
  return { open, deadLetters, ...(oldestAskedAt !== null && { oldestAskedAt }) };
}
