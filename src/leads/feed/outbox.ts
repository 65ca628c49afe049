import { SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';

import type { Change } from './change.ts';
import type { ChangeLog } from './change-log.ts';

/** Changes on their way into the store, many to a commit. */
export type Outbox = {
  /** Never waits and never throws. */
  put(change: Change): void;
  /** Resolves when all that was put is in the store, or given up. */
  settled(): Promise<void>;
};

export type OutboxDeps = {
  changes: Pick<ChangeLog, 'append'>;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
};

/** After a batch what comes within this time shares the next one. */
const BATCH_EVERY_MS = SECOND / 4;
const RETRY_AFTER_MS = SECOND;
/** More issues than that in one batch are "everything", which is as true, and small. */
const ISSUES_PER_BATCH_MAX = 100;

type IssueChange = Extract<Change, { kind: 'issue' }>;

type State = {
  /** By number: the last state is enough, for others look at the tracker and not at its history. */
  issues: Map<number, IssueChange>;
  isEverything: boolean;
  running: Promise<void> | undefined;
  /** Aborted when somebody waits for the end. */
  hurry: AbortController;
};

/**
 * The first change after a quiet time goes out at the end of its turn, in the commit that takes the
 * same event into the lead directory. What the store fails goes out later, as "everything".
 */
export function createOutbox(deps: OutboxDeps): Outbox {
  const state: State = {
    issues: new Map(),
    isEverything: false,
    running: undefined,
    hurry: new AbortController(),
  };
  return {
    put: (change) => {
      add(state, change);
      if (state.running) return;
      state.hurry = new AbortController();
      state.running = run(deps, state).finally(() => {
        state.running = undefined;
      });
    },
    settled: async () => {
      state.hurry.abort();
      await state.running;
    },
  };
}

function add(state: State, change: Change): void {
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

function takeAll(state: State): Change[] {
  const taken: Change[] = state.isEverything
    ? [{ kind: 'everything' }]
    : [...state.issues.values()];
  state.isEverything = false;
  state.issues.clear();
  return taken;
}

async function run({ changes, clock, log }: OutboxDeps, state: State): Promise<void> {
  await Promise.resolve(); // events of one turn come one after the other
  let hasFailed = false;
  while (state.isEverything || state.issues.size > 0) {
    const isLast = state.hurry.signal.aborted;
    try {
      await changes.append(takeAll(state));
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log.error(errorFields(error), 'changes could not be published');
      hasFailed = true;
      if (isLast) return;
      makeEverything(state);
    }
    const waitMs = hasFailed ? RETRY_AFTER_MS : BATCH_EVERY_MS;
    await sleepUntilAborted(clock, waitMs, state.hurry.signal);
  }
}
