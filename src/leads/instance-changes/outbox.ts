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

type OutboxDeps = {
  changes: Pick<ChangeLog, 'append'>;
  clock: Clock;
  log: Log;
};

/** After a batch what comes within this time shares the next one. */
const BATCH_EVERY_MS = SECOND / 4;
const RETRY_AFTER_MS = SECOND;
/** More issues than that in one batch are "everything", which is as true, and small. */
const ISSUES_PER_BATCH_MAX = 100;

type State = {
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
export function createOutbox(deps: OutboxDeps): Outbox {
  const state: State = { issues: new Map(), isEverything: false, hasFailed: false };
  const drain = createDrain({
    hasWork: () => state.isEverything || state.issues.size > 0,
    work: (hurry) => publishBatch(deps, state, hurry),
  });
  return {
    put: (change) => {
      add(state, change);
      drain.start();
    },
    settled: () => drain.settled(),
  };
}

function add(state: State, change: InstanceChange): void {
  if (state.isEverything) return;
  if (change.kind === 'everything') return makeEverything(state);
  const { number, updatedAt } = change.issue;
  const known = state.issues.get(number);
  if (known?.isGone || (known && !change.isGone && known.issue.updatedAt > updatedAt)) return;
  state.issues.set(number, change);
  if (state.issues.size > ISSUES_PER_BATCH_MAX) makeEverything(state);
}

function makeEverything(state: State): void {
  state.isEverything = true;
  state.issues.clear();
}

function takeAll(state: State): InstanceChange[] {
  const taken: InstanceChange[] = state.isEverything
    ? [{ kind: 'everything' }]
    : [...state.issues.values()];
  state.isEverything = false;
  state.issues.clear();
  return taken;
}

async function publishBatch(
  { changes, clock, log }: OutboxDeps,
  state: State,
  hurry: AbortSignal,
): Promise<void> {
  await Promise.resolve(); // events of one turn come one after the other
  const isLast = hurry.aborted;
  try {
    await changes.append(renderChanges(takeAll(state)));
    state.hasFailed = false;
  } catch (error) {
    if (!state.hasFailed) log.error(errorFields(error), 'changes could not be published');
    state.hasFailed = true;
    if (isLast) return;
    makeEverything(state);
  }
  const waitMs = state.hasFailed ? RETRY_AFTER_MS : BATCH_EVERY_MS;
  await sleepUntilAborted(clock, waitMs, hurry);
}
