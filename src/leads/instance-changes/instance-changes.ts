import { setImmediate } from 'node:timers/promises';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Listening } from '#shared/database.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createDrain } from '#shared/resilience/background.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import type { ChangeLog, ChangeReader, InstanceChange } from './change-log.ts';

/** Takes the changes that others publish. Neither function may wait or throw. */
type ChangeListener = {
  /** A change that another instance published. The same may come twice. */
  onChange: (change: InstanceChange) => void;
  /** Changes were missed: any response that is cached may be out of date. */
  onGap: () => void;
};

/**
 * Carries changes that one instance learnt to the others on the same store. Each change is in the store
 * within half a second and comes to every other instance once or more, in the order of its
 * publication. An instance that was away for longer than the store keeps changes is told of a gap.
 * Nobody learns of changes that an instance had not published when it was killed. So claims do not travel this way:
 * readers look at them in the store (`claims/claim-view.ts`).
 */
export type InstanceChanges = {
  /** Never waits and never throws. What the store fails is published later, as "everything". */
  publish(change: InstanceChange): void;
  /**
   * Begins to look for changes, from now on, when the store says that there are some, and twice a
   * second. Once, before anything is cached.
   * @throws {store-unavailable}
   */
  follow(listener: ChangeListener): Promise<void>;
  /** True while all that was in the store a second ago has come to the listener. Cheap. */
  isCurrent(): boolean;
  /** Resolves when all that was in the store at the call has come. @throws {store-unavailable} */
  becomeCurrent(): Promise<void>;
  /** Resolves when all that was published is in the store, or given up. */
  settled(): Promise<void>;
  /** Settles, and looks for changes no more. */
  close(): Promise<void>;
};

/** The changes of an instance that has its store for itself. */
export const noOthers: InstanceChanges = {
  publish: () => undefined,
  follow: async () => undefined,
  isCurrent: () => true,
  becomeCurrent: async () => undefined,
  settled: async () => undefined,
  close: async () => undefined,
};

/** Even when the store does not call: a change is known a second after its publication at the latest. */
const LOOK_EVERY_MS = SECOND / 2;
/** An event loop that was held up, or a process that was stopped, looks before it responds. */
const CURRENT_FOR_MS = SECOND;

export function createInstanceChanges({
  changes,
  clock,
  log,
}: {
  changes: ChangeLog;
  clock: Clock;
  log: Log;
}): InstanceChanges {
  const outbox = createOutbox({ changes, clock, log });
  const closing = new AbortController();
  let following: Following | undefined;
  let looking: Promise<void> | undefined;
  let watch: Listening | undefined;
  return {
    publish: (change) => outbox.put(change),
    follow: async (listener) => {
      const started = followLog(await changes.openReader(), clock, listener);
      following = started;
      watch = changes.watch(() => void look(started));
      looking = lookOften(started, clock, closing.signal);
    },
    isCurrent: () => following?.isCurrent() ?? true,
    becomeCurrent: async () => following?.becomeCurrent(),
    settled: () => outbox.settled(),
    close: async () => {
      closing.abort();
      await Promise.all([outbox.settled(), looking, watch?.close()]);
    },
  };
}

type Following = Pick<InstanceChanges, 'isCurrent' | 'becomeCurrent'>;

function followLog(
  readNew: ChangeReader,
  clock: Clock,
  { onChange, onGap }: ChangeListener,
): Following {
  let lookedAt = clock.monotonicMs();
  return {
    isCurrent: () => clock.monotonicMs() - lookedAt < CURRENT_FOR_MS,
    becomeCurrent: createNextTurnFlight(async () => {
      const startedAt = clock.monotonicMs();
      for (const { isBehindGap, changes } of await readNew()) {
        if (isBehindGap) onGap();
        for (const change of changes) onChange(change);
      }
      lookedAt = startedAt;
    }),
  };
}

async function lookOften(following: Following, clock: Clock, closing: AbortSignal): Promise<void> {
  while (!closing.aborted) {
    await sleepUntilAborted(clock, LOOK_EVERY_MS, closing);
    await look(following);
  }
}

/** Never throws: readers look themselves while this fails, and tell of it. */
async function look(following: Following): Promise<void> {
  await following.becomeCurrent().catch(() => undefined);
}

/** Changes on their way into the store, many to a commit. */
type Outbox = {
  /** Never waits and never throws. */
  put(change: InstanceChange): void;
  /** Resolves when all that was put is in the store, or given up. */
  settled(): Promise<void>;
};

/** The store's log, to which changes go. */
type Outlet = { changes: Pick<ChangeLog, 'append'>; clock: Clock; log: Log };

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
  await setImmediate(); // each webhook of one turn has a callback of its own, and microtasks run between two
  const isLast = hurry.aborted;
  try {
    await changes.append(takeAll(batch));
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
