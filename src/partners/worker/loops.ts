/** The loops of a worker: they match, act and watch, round by round, until it stops. */
import { setImmediate } from 'node:timers/promises';
import { type Clock, MINUTE, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Alarm } from '#shared/resilience/background.ts';
import { type Acting, actOnEvent, type ActResult } from './act/act-on-event.ts';
import type { IssueEditor } from './act/issue-editor.ts';
import { type Choice, giveBack, type Leasing, makeDue } from './lease-events.ts';
import { type Matching, matchEvents } from './match/match-event.ts';
import { isWellAgain, type Pause, suspectPause, type TrackerPause } from './may-write.ts';
import type { WorkItem } from './work-item.ts';
import type { ActProgress, Stage } from '../receipts/event-progress.ts';

const STORE_RETRY_MS = SECOND;
/** A store that is away fails every round: the same failure is logged once in so long. */
const LOG_AGAIN_MS = MINUTE;

/** Why a loop gets nothing done, and since when (ms since the Unix epoch). */
export type LoopFailure = { code: string; since: number };

/** Shared by the loops of one worker. */
type Loop = {
  alarms: Readonly<Record<Stage, Alarm>>;
  /** Of the loops whose last round failed. */
  failures: Map<Stage, LoopFailure>;
  clock: Clock;
  log: Log;
  stopping: AbortSignal;
};

/**
 * Goes round after round until the worker stops. `round` returns how long to wait at most before
 * the next one, in ms; the loop's alarm ends the wait. Never throws: a round that fails is gone again.
 */
export async function runLoop(
  loop: Loop,
  name: Stage,
  round: () => Promise<number>,
): Promise<void> {
  const { alarms, clock, failures, stopping } = loop;
  const logFailure = createFailureLog(loop, name);
  while (!stopping.aborted) {
    let waitMs = STORE_RETRY_MS;
    try {
      waitMs = await round();
      failures.delete(name);
    } catch (error) {
      const code = isTrackportError(error) ? error.code : 'internal-error';
      failures.set(name, { code, since: failures.get(name)?.since ?? clock.now() });
      logFailure(error);
    }
    if (waitMs > 0) await alarms[name].wait(waitMs, stopping);
    else await setImmediate(); // the store responds without a pause: others must get their turn
  }
}

function createFailureLog({ clock, log }: Loop, stage: Stage): (error: unknown) => void {
  const loggedAt = new Map<string, number>();
  return (error) => {
    const now = clock.monotonicMs();
    for (const [failure, at] of loggedAt) if (now - at >= LOG_AGAIN_MS) loggedAt.delete(failure);
    const fields = { stage, ...errorFields(error) };
    const failure = JSON.stringify(fields);
    if (loggedAt.has(failure)) return;
    loggedAt.set(failure, now);
    const level = isTrackportError(error) ? 'warn' : 'error';
    log[level](fields, 'the worker met an error and goes on');
  };
}

const MATCH_BATCH = 100;
/** Events that come one by one share a look at the tracker, a lease and a commit: what is known is claimed already. */
const GATHER_MS = SECOND / 10;
/** Deliveries that another instance accepted are to be claimed within a second as well. */
const WATCH_EVERY_MS = SECOND / 5;

export type MatchingLoop = Loop & {
  db: Pick<Database, 'dataVersion'>;
  leasing: Leasing;
  matching: Matching;
};

/** Claims what is due, batch by batch, until the worker stops. Never throws. */
export function runMatching(loop: MatchingLoop): Promise<void> {
  const { alarms, leasing, matching, clock, stopping } = loop;
  return runLoop(loop, 'match', async () => {
    const items = await leasing.lease('match', MATCH_BATCH);
    if (items.length === 0) return leasing.waitMs('match');
    await leasing.workOn(items, () => matchEvents(matching, items));
    alarms.act.ring();
    if (items.length < MATCH_BATCH) await sleepUntilAborted(clock, GATHER_MS, stopping);
    return 0;
  });
}

/** Notices what other instances have queued, until the worker stops. Never throws. */
export async function runWatching({ db, alarms, clock, stopping }: MatchingLoop): Promise<void> {
  const hasChanged = createChangeProbe(db);
  while (!stopping.aborted) {
    if (await hasChanged().catch(() => false)) alarms.match.ring();
    await sleepUntilAborted(clock, WATCH_EVERY_MS, stopping);
  }
}

/** Tells whether somebody may have queued events since the last call: another process, or this one. Cheap. */
export function createChangeProbe(db: Pick<Database, 'dataVersion'>): () => Promise<boolean> {
  let seen: number | undefined;
  return async () => {
    const before = seen;
    seen = await db.dataVersion();
    return seen !== before;
  };
}

const IDENTIFY_AGAIN_MS = 5 * SECOND;

export type ActingLoop = Loop & {
  db: Database;
  editor: Pick<IssueEditor, 'checkRepository' | 'checkWriting'>;
  /** Finds the repository that the name means, so that no issue of another is changed. `DirectoryFiller` has it. */
  identify(): Promise<void>;
  leasing: Leasing;
  pause: TrackerPause;
  walTruncation: WalTruncation;
  acting: Acting;
};

/** Changes issues, one event at a time, until the worker stops. Never throws. */
export function runActing(loop: ActingLoop): Promise<void> {
  const { walTruncation } = loop;
  return runLoop(loop, 'act', async () => {
    await walTruncation.run();
    const waitMs = await actWhenAllowed(loop);
    return Math.min(waitMs, walTruncation.waitMs());
  });
}

async function actWhenAllowed(loop: ActingLoop): Promise<number> {
  const { alarms, leasing, pause } = loop;
  const current = pause.current();
  if (current) return probe(loop, current);
  const limitedMs = pause.limitedMs();
  if (limitedMs > 0) return limitedMs;
  const result = await actOnNext(loop);
  if (!result) return leasing.waitMs('act');
  alarms.match.ring(); // it may have come again while it was worked on
  return 0;
}

/**
 * Undefined when nothing is due. A refusal of the credential that was in force when it began says nothing of one that
 * came meanwhile.
 */
async function actOnNext(loop: ActingLoop, choice?: Choice): Promise<ActResult | undefined> {
  const { acting, clock, db, leasing, pause, stopping } = loop;
  const [item] = await leasing.lease('act', 1, choice);
  if (!item) return undefined;
  choice?.except.add(item.event);
  const changes = pause.changes();
  const result = await leasing.workOn(
    [item],
    async () =>
      (await delayUntilIdentified(loop, item)) ??
      actOnEvent(acting, item as WorkItem<ActProgress>, stopping),
  );
  if (pause.changes() !== changes) await makeDue(db, clock.now());
  else if (result.kind === 'paused') pause.begin(result.code);
  else if (result.kind === 'limited') pause.limitUntil(result.retryAt);
  return result;
}

/** The name may mean another repository since the last start, or none that can be seen. */
async function delayUntilIdentified(
  loop: ActingLoop,
  item: WorkItem,
): Promise<Extract<ActResult, { kind: 'limited' | 'paused' }> | undefined> {
  const { clock, db, log, pause } = loop;
  try {
    await loop.identify();
    return undefined;
  } catch (error) {
    await giveBack(db, item);
    log.warn(errorFields(error), 'the repository could not be identified: the work waits');
    await suspectPause(loop);
    const current = pause.current();
    return current
      ? { kind: 'paused', code: current.code }
      : { kind: 'limited', retryAt: clock.now() + IDENTIFY_AGAIN_MS };
  }
}

/** Events that a probe chooses from: those that were refused must not keep all others waiting. */
const PROBE_AMONG = 50;

/**
 * A pause ends when the repository is well, nothing that it tells speaks against writing, and the next event, if there
 * is one, comes to its end: not every lack of rights can be read. An event that waits tells nothing: the next one does,
 * and each is tried once.
 */
async function probe(loop: ActingLoop, current: Readonly<Pause>): Promise<number> {
  const { clock, pause } = loop;
  const waitMs = Math.max(current.probeAt - clock.monotonicMs(), pause.limitedMs());
  if (waitMs > 0) return waitMs;
  if (await isWellAgain(loop, current)) await probeEvents(loop, current);
  return 0;
}

async function probeEvents(loop: ActingLoop, current: Readonly<Pause>): Promise<void> {
  const { pause, stopping } = loop;
  const tried = new Set<number>();
  const isStill = (): boolean => pause.current() === current && !stopping.aborted;
  let result: ActResult | undefined;
  do result = await actOnNext(loop, { among: PROBE_AMONG, except: tried });
  while (result && TELLS_NOTHING.has(result.kind) && isStill());
  if (!isStill()) return;
  if (result?.kind === 'settled' || tried.size === 0) pause.end();
  else if (!result) pause.probeLater();
}

const TELLS_NOTHING: ReadonlySet<ActResult['kind']> = new Set(['left', 'rescheduled']);

/** Dropped payloads are taken out of the store's files at most this often. */
const TRUNCATE_EVERY_MS = SECOND;

/** Takes payloads out of the store's files, where the data of a deletion must not outlive it. */
export type WalTruncation = {
  /** A payload was dropped that may still be in the store's files. */
  noteDropped(): void;
  /** Takes what was dropped out of the files when it is time for that. Never throws. */
  run(): Promise<void>;
  /** Until the next time at most, in ms; Infinity when nothing was dropped. */
  waitMs(): number;
};

/** Begins as if something was dropped: an earlier process may have died before it could do it. */
export function createWalTruncation({
  db,
  clock,
  log,
}: {
  db: Pick<Database, 'truncateWal'>;
  clock: Pick<Clock, 'monotonicMs'>;
  log: Log;
}): WalTruncation {
  let isDirty = true;
  let truncatedAt = -Infinity;
  return {
    noteDropped: () => {
      isDirty = true;
    },
    run: async () => {
      const now = clock.monotonicMs();
      if (!isDirty || now - truncatedAt < TRUNCATE_EVERY_MS) return;
      truncatedAt = now;
      try {
        isDirty = !(await db.truncateWal());
      } catch (error) {
        log.warn(errorFields(error), 'dropped payloads could not be taken out of the files yet');
      }
    },
    waitMs: () => (isDirty ? TRUNCATE_EVERY_MS : Infinity),
  };
}
