import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Database, Listening, Statements } from '#shared/database.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createDrain } from '#shared/resilience/background.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { advisoryLocks } from '#shared/sql.ts';
import type { TrackerEvent } from './lead-tracker.ts';

const instanceChange = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('issue'),
    issue: z.object({
      number: z.int(),
      state: z.enum(['open', 'closed']),
      labels: z.array(z.string()).readonly(),
      createdAt: z.number(),
      updatedAt: z.number(),
      isPullRequest: z.boolean(),
    }),
    isGone: z.boolean(),
  }),
  z.object({ kind: z.literal('everything') }),
]);

/**
 * A message of one instance to the others: some of the tracker's responses may be out of date. An issue is now as `issue`
 * says (`isGone`: deleted, or in another repository), or any may look different.
 */
export type InstanceChange = z.infer<typeof instanceChange>;

/** The event without its people and its texts; undefined when there is nothing to tell. */
export function toInstanceChange(event: TrackerEvent): InstanceChange | undefined {
  if (event.kind === 'ignored') return undefined;
  if (event.kind === 'everything') return { kind: 'everything' };
  const { number, state, labels, createdAt, updatedAt, isPullRequest } = event.issue;
  const issue = { number, state, labels, createdAt, updatedAt, isPullRequest };
  return { kind: 'issue', issue, isGone: event.isGone };
}

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

export function createInstanceChanges(outlet: Outlet & { changes: ChangeLog }): InstanceChanges {
  const { changes, clock } = outlet;
  const outbox = createOutbox(outlet);
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
 * Puts changes into the store, many to a commit: the first after a quiet time at the end of its turn, and what the
 * store fails later, as "everything".
 */
export function createOutbox(outlet: Outlet) {
  const batch: Batch = { issues: new Map(), isEverything: false, hasFailed: false };
  const drain = createDrain({
    hasWork: () => batch.isEverything || batch.issues.size > 0,
    work: (hurry) => publishBatch(outlet, batch, hurry),
  });
  return {
    /** Never waits and never throws. */
    put: (change: InstanceChange): void => {
      add(batch, change);
      drain.start();
    },
    /** Resolves when all that was put is in the store, or given up. */
    settled: (): Promise<void> => drain.settled(),
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

/** Number of batches that are kept, the newest always. Whoever finds a hole in the positions has missed something. */
export const BATCHES_KEPT = 256;

/** Batches are committed in the order of their positions: none is visible later than one of a greater position. */
const LOCK = `SELECT pg_advisory_xact_lock(${advisoryLocks.changes})`;

/** No sequence: that leaves holes, and shows a later number before an earlier one. */
const APPEND = `
  INSERT INTO change_batch (position, instance_id, changes)
  SELECT coalesce(max(position), 0) + 1, @instanceId, @changes FROM change_batch
  RETURNING position`;

const REMOVE_OLD = 'DELETE FROM change_batch WHERE position <= @upTo';

const CHANNEL = 'trackport_instances';

/** Heard when this transaction is committed. */
const NOTIFY = `NOTIFY ${CHANNEL}`;

type BatchRow = { position: number; instanceId: string; changes: string };

const LAST = `
  SELECT position, instance_id, changes FROM change_batch ORDER BY position DESC LIMIT 1`;

/** With the one that was read last, or else the newest there is: whether it goes on from there. */
const FROM = `
  SELECT position, instance_id, changes FROM change_batch
  WHERE position >= @position OR position = (SELECT max(position) FROM change_batch)
  ORDER BY position`;

/** Changes that one instance published at once. */
export type ChangeBatch = {
  /** Those before it were missed. */
  isBehindGap: boolean;
  /** None of what this instance published itself: it knows already. */
  changes: readonly InstanceChange[];
};

type ChangeLog = ReturnType<typeof createChangeLog>;

/** `instanceId` tells the batches of this instance from those of others. */
export function createChangeLog(db: Database, { instanceId }: { instanceId: string }) {
  return {
    /**
     * Adds a batch behind all others.
     * @throws {store-unavailable} nothing, or nobody can know, was added
     */
    append: (changes: readonly InstanceChange[]): Promise<void> =>
      db.transaction(async (tx) => {
        await tx.get(LOCK);
        const values = { instanceId, changes: JSON.stringify(changes) };
        const row = await tx.get<{ position: number }>(APPEND, values);
        await tx.run(REMOVE_OLD, { upTo: (row?.position ?? 0) - BATCHES_KEPT });
        await tx.get(NOTIFY);
      }),
    /** A reader whose place is behind the newest batch. @throws {store-unavailable} */
    openReader: async (): Promise<ChangeReader> =>
      createReader(db, instanceId, await db.get<BatchRow>(LAST)),
    /**
     * Calls `onAppended` soon after a batch was committed by anybody, at most once for all of a moment, and whenever it
     * cannot know whether one was. While the store is away nobody is called.
     */
    watch: (onAppended: () => void): Listening => db.listen(CHANNEL, onAppended),
  };
}

/** Returns all that are kept of the batches behind its place, in order. @throws {store-unavailable} the place stays */
type ChangeReader = () => Promise<readonly ChangeBatch[]>;

/**
 * Cheap when there are no new batches: called several times a second, once at a time. A store that lost what was read
 * before (a failover to a server that lagged) does not go on from `last`: a gap.
 */
function createReader(db: Statements, instanceId: string, last?: BatchRow): ChangeReader {
  let place = last;
  return async () => {
    const rows = await db.all<BatchRow>(FROM, { position: place?.position ?? 0 });
    return rows.slice(isDeepStrictEqual(rows[0], place) ? 1 : 0).map((row) => {
      const isBehindGap = row.position !== (place?.position ?? 0) + 1;
      place = row;
      return {
        isBehindGap,
        changes: row.instanceId === instanceId ? [] : parseChanges(row.changes),
      };
    });
  };
}

/** Changes from their text. A text that is of another version of the program may mean anything. */
export function parseChanges(text: string): readonly InstanceChange[] {
  try {
    return z.array(instanceChange).parse(JSON.parse(text));
  } catch {
    return [{ kind: 'everything' }];
  }
}
