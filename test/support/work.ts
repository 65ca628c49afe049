import {
  blockedUntil,
  createOwnComment,
  findMatch,
  hasLeadsElsewhere,
  isOvertaken,
  leadsOf,
  leadsUnderLease,
} from '#partners/worker/event-leads.ts';
import {
  createChangeProbe,
  forgetLeases,
  giveBack,
  leaseEvents,
  nextDueAt,
  postpone,
  readWorkCounts,
  reschedule,
  saveProgress,
} from '#partners/worker/lease-events.ts';
import { settle } from '#partners/worker/end-event.ts';
import { keepMatches, type NewMatch } from '#partners/worker/match/keep-matches.ts';
import type { Settlement, Stage, WorkItem } from '#partners/worker/work-item.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Database } from '#shared/database.ts';

/** Skips the first argument. */
type Rest<F> = F extends (first: never, ...rest: infer R) => unknown ? R : never;
type Match = NewMatch['match'];
type Next = NonNullable<NewMatch['next']>;
type Plan = NonNullable<NewMatch['plan']>;

/** Work on events, in the store of a test. */
export type Work = ReturnType<typeof createWork>;

export function createWork({
  database: db,
  instance,
  sealer,
  ...of
}: {
  database: Database;
  instance: string;
  sealer: Sealer;
  repository: string;
}) {
  const repository = of.repository.toLowerCase();
  const scope = { db, repository };
  const holder = { db, instance, sealer };
  const keep = async (match: NewMatch): Promise<readonly number[] | undefined> =>
    (await db.exclusive((tx) => keepMatches(tx, repository, [match])))[0];
  return {
    lease: (stage: Stage, now: number, limit: number, aheadMaxMs?: number) =>
      leaseEvents(holder, stage, { now, limit, aheadMaxMs }),
    nextDueAt: (stage: Stage) => nextDueAt(db, stage),
    changedElsewhere: createChangeProbe(db),
    forgetLeases: (now: number) => forgetLeases(holder, now),
    match: (...args: Rest<typeof findMatch>) => findMatch(scope, ...args),
    giveBack: (item: WorkItem) => giveBack(db, item),
    claim: (item: WorkItem, match: Match, next: Next) => keep({ item, match, next }),
    confirm: (item: WorkItem, match: Match, plan: Plan) => keep({ item, match, plan }),
    leadsOf: (item: WorkItem) => leadsOf(scope, item),
    leadsUnderLease: (item: WorkItem) => leadsUnderLease(scope, item),
    isOvertaken: (item: WorkItem, now: number) => isOvertaken(db, item, now),
    blockedUntil: (...args: Rest<typeof blockedUntil>) => blockedUntil(scope, ...args),
    hasLeadsElsewhere: (item: WorkItem) => hasLeadsElsewhere(scope, item),
    saveProgress: (...args: Rest<typeof saveProgress>) => saveProgress(db, ...args),
    reschedule: (...args: Rest<typeof reschedule>) => reschedule(db, ...args),
    postpone: (...args: Rest<typeof postpone>) => postpone(db, ...args),
    settle: (item: WorkItem, settlement: Settlement, now: number) =>
      db.exclusive((tx) => settle(tx, repository, item, { ...settlement, now })),
    ownComment: (item: WorkItem, number: number) => createOwnComment(db, item, number),
    counts: () => readWorkCounts(db),
    truncateWal: () => db.truncateWal(),
  };
}
