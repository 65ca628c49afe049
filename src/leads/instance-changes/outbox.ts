import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createDrain } from '#shared/resilience/drain.ts';

import type { ChangeLog } from './change-log.ts';
import { type InstanceChange, renderChanges } from './instance-change.ts';

/** Changes on their way into the store, many to a commit. */
type Outbox = {
  /** Never waits and never throws. */
  put(change: InstanceChange): void;
  /** Resolves when all that was put is in the store, or given up. */
  settled(): Promise<void>;
};

/** The store's log, to which changes go. */
export type Outlet = { changes: Pick<ChangeLog, 'append'>; clock: Clock; log: Log };

/** After a batch what comes within this time shares the next one. */
const BATCH_EVERY_MS = SECOND / 4;
const RETRY_AFTER_MS = SECOND;
/** More issues than that in one batch are "everything", which is as true, and small. */
const ISSUES_PER_BATCH_MAX = 100;

type Batch = {
  /** By number: the last state is enough, for others look at the tracker and not at its history. */
  issues: Map<number, Extract<InstanceChange, { kind: 'issue' }>>;
  isEverything: boolean;
  /** The store has failed the last batch. */
  hasFailed: boolean;
};

/**
 * The first change after a quiet time goes out at the end of its turn. What the store fails goes out later,
 * as "everything".
 */
export function createOutbox(outlet: Outlet): Outbox {
  const batch: Batch = { issues: new Map(), isEverything: false, hasFailed: false };
  const drain = createDrain({
    hasWork: () => batch.isEverything || batch.issues.size > 0,
    work: (hurry) => publishBatch(outlet, batch, hurry),
  });
  return {
    put: (change) => {
      add(batch, change);
      drain.start();
    },
    settled: () => drain.settled(),
  };
}

function add(batch: Batch, change: InstanceChange): void {
  if (batch.isEverything) return;
  if (change.kind === 'everything') return makeEverything(batch);
  const { number, updatedAt } = change.issue;
  const known = batch.issues.get(number);
  if (known?.isGone || (known && !change.isGone && known.issue.updatedAt > updatedAt)) return;
  batch.issues.set(number, change);
  if (batch.issues.size > ISSUES_PER_BATCH_MAX) makeEverything(batch);
}

function makeEverything(batch: Batch): void {
  batch.isEverything = true;
  batch.issues.clear();
}

function takeAll(batch: Batch): InstanceChange[] {
  const taken: InstanceChange[] = batch.isEverything
    ? [{ kind: 'everything' }]
    : [...batch.issues.values()];
  batch.isEverything = false;
  batch.issues.clear();
  return taken;
}

async function publishBatch(
  { changes, clock, log }: Outlet,
  batch: Batch,
  hurry: AbortSignal,
): Promise<void> {
  await Promise.resolve(); // events of one turn come one after the other
  const isLast = hurry.aborted;
  try {
    await changes.append(renderChanges(takeAll(batch)));
    batch.hasFailed = false;
  } catch (error) {
    if (!batch.hasFailed) log.error(errorFields(error), 'changes could not be published');
    batch.hasFailed = true;
    if (isLast) return;
    makeEverything(batch);
  }
  const waitMs = batch.hasFailed ? RETRY_AFTER_MS : BATCH_EVERY_MS;
  await sleepUntilAborted(clock, waitMs, hurry);
}
