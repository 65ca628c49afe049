import { setImmediate } from 'node:timers/promises';

import { SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import { actOnEvent } from '../deletions/act/act-on-event.ts';
import type { ActDeps, ActResult } from '../deletions/act/act-on-event.ts';
import type { Alarm } from './alarm.ts';
import type { ActProgress } from '../deletions/deletion-progress.ts';
import type { IssueEditor, PauseCode } from '../deletions/act/issue-editor.ts';
import { lookAgain } from '../deletions/match/look-again.ts';
import type { LookAgainDeps } from '../deletions/match/look-again.ts';
import { matchEvents } from '../deletions/match/match-event.ts';
import type { MatchDeps } from '../deletions/match/match-event.ts';
import type { Stage, WorkItem, WorkStore } from './work-store.ts';

const MATCH_BATCH = 100;
/** Should an alarm ever be missed. */
const LOOK_EVERY_MS = 5 * SECOND;
/** Deliveries that another process accepted are to be claimed within a second as well. */
const WATCH_EVERY_MS = SECOND / 5;
const STORE_RETRY_MS = SECOND;
const IDENTIFY_AGAIN_MS = 5 * SECOND;
/** Dropped payloads are taken out of the store's files at most this often. */
const SCRUB_EVERY_MS = SECOND;

/**
 * What keeps the worker from changing issues, for all events alike. `isCertain`: false while it may
 * be one issue's own; then the others are tried as ever.
 */
type Pause = { code: PauseCode; since: number; probeAt: number; isCertain: boolean };

type LoopName = Stage | 'look';

export type LoopDeps = {
  store: WorkStore;
  editor: Pick<IssueEditor, 'checkRepository' | 'checkWriting'>;
  /** Which repository the name means, so that no issue of another is changed. `DirectoryFiller` has it. */
  identify(): Promise<void>;
  match: MatchDeps;
  act: ActDeps;
  look: LookAgainDeps;
  alarms: Record<LoopName, Alarm>;
  clock: Clock;
  log: Log;
  stopping: AbortSignal;
  /** How often a pause is questioned, in ms. */
  probeEveryMs: number;
  /** No event of the stage ever waits longer than this, in ms. */
  waitMaxMs: (stage: Stage) => number;
  state: LoopState;
};

/** Why a loop gets nothing done, and since when (ms since the Unix epoch). */
export type LoopFailure = { code: string; since: number };

export type LoopState = {
  /** Of the loops whose last turn failed. */
  failures: Map<LoopName, LoopFailure>;
  /** The latest instant that a loop saw. */
  seenAt: number;
  /** Left half-way because the store failed: to be given back once it works again. */
  unreturned: readonly WorkItem[];
  pause: Pause | undefined;
  /** Until this instant a rate limit is in force. */
  limitedUntil: number;
  /** A payload was dropped that may still be in the store's files. */
  isDirty: boolean;
  scrubbedAt: number;
};

/** Claims what is due, batch by batch, until the worker stops. Never throws. */
export function runMatching(deps: LoopDeps): Promise<void> {
  return runLoop(deps, 'match', async () => {
    await noticeClock(deps);
    await giveBackUnreturned(deps);
    const items = await leaseDue(deps, 'match', MATCH_BATCH);
    if (items.length === 0) return waitForDue(deps, 'match');
    await withReturn(deps, items, () => matchEvents(deps.match, items));
    deps.alarms.act.ring();
    return 0;
  });
}

/** What waits for an instant of a clock that was wrong would wait for as long as it was wrong. */
async function noticeClock({ alarms, clock, log, state, store }: LoopDeps): Promise<void> {
  const now = clock.now();
  const byMs = state.seenAt - now;
  if (byMs >= SECOND) {
    log.warn({ byMs }, 'the clock was set back');
    await store.moveBack(byMs, now);
    state.limitedUntil -= byMs;
    if (state.pause) state.pause.probeAt -= byMs;
    alarms.act.ring();
  }
  state.seenAt = now;
}

function leaseDue(
  { clock, store, waitMaxMs }: LoopDeps,
  stage: Stage,
  limit: number,
): Promise<readonly WorkItem[]> {
  return store.lease(stage, clock.now(), limit, waitMaxMs(stage));
}

/** When the store fails half-way, the items are given back as soon as it can, not when a lease ends. */
async function withReturn<T>(
  { state }: LoopDeps,
  items: readonly WorkItem[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    state.unreturned = [...state.unreturned, ...items];
    throw error;
  }
}

async function giveBackUnreturned({ state, store }: LoopDeps): Promise<void> {
  const { unreturned } = state;
  if (unreturned.length === 0) return;
  await Promise.all(unreturned.map((item) => store.giveBack(item)));
  state.unreturned = state.unreturned.filter((item) => !unreturned.includes(item));
}

/** Changes issues, one event at a time, until the worker stops. Never throws. */
export function runActing(deps: LoopDeps): Promise<void> {
  return runLoop(deps, 'act', async () => {
    await scrubWhenDirty(deps);
    const waitMs = await actWhenAllowed(deps);
    return deps.state.isDirty ? Math.min(waitMs, SCRUB_EVERY_MS) : waitMs;
  });
}

/** Looks again for late leads until the worker stops. Never throws. */
export function runLookingAgain(deps: LoopDeps): Promise<void> {
  const { alarms, look } = deps;
  return runLoop(deps, 'look', async () => {
    const waitMs = await lookAgain(look, () => alarms.act.ring());
    return Math.min(waitMs, LOOK_EVERY_MS);
  });
}

/** Notices what other processes have queued, until the worker stops. Never throws. */
export async function runWatching({ store, alarms, clock, stopping }: LoopDeps): Promise<void> {
  while (!stopping.aborted) {
    if (await store.changedElsewhere().catch(() => false)) alarms.match.ring();
    await sleepUntilAborted(clock, WATCH_EVERY_MS, stopping);
  }
}

async function actWhenAllowed(deps: LoopDeps): Promise<number> {
  const { alarms, clock, state } = deps;
  if (state.pause?.isCertain) return probe(deps, state.pause);
  const limitedMs = state.limitedUntil - clock.now();
  if (limitedMs > 0) return limitedMs;
  const result = await actOnNext(deps);
  if (!result) return waitForDue(deps, 'act');
  if (state.pause && !state.pause.isCertain && deps.act.refusals.isWell()) endPause(deps);
  alarms.match.ring(); // it may have come again while it was worked on
  return 0;
}

/** Something says that the tracker may have locked us out: asks the tracker. */
export async function suspectPause(deps: LoopDeps): Promise<void> {
  if (deps.stopping.aborted) return;
  const response = await deps.editor.checkRepository();
  if (response.kind === 'paused') setPause(deps, response.code);
}

/** `turn` returns how long to wait at most before the next turn, in ms. */
async function runLoop(
  { alarms, clock, log, state, stopping }: LoopDeps,
  stage: LoopName,
  turn: () => Promise<number>,
): Promise<void> {
  const { failures } = state;
  while (!stopping.aborted) {
    let waitMs = STORE_RETRY_MS;
    try {
      waitMs = await turn();
      failures.delete(stage);
    } catch (error) {
      const code = isTrackportError(error) ? error.code : 'internal-error';
      failures.set(stage, { code, since: failures.get(stage)?.since ?? clock.now() });
      log.error({ stage, ...errorFields(error) }, 'the worker met an error and goes on');
    }
    if (waitMs > 0) await alarms[stage].wait(waitMs, stopping);
    else await setImmediate(); // the store responds without a pause: others must get their turn
  }
}

async function waitForDue({ store, clock }: LoopDeps, stage: Stage): Promise<number> {
  const dueAt = await store.nextDueAt(stage);
  if (dueAt === undefined) return LOOK_EVERY_MS;
  return Math.min(LOOK_EVERY_MS, Math.max(1, dueAt - clock.now()));
}

/** Undefined when nothing is due. */
async function actOnNext(deps: LoopDeps): Promise<ActResult | undefined> {
  const { act, stopping, state } = deps;
  await giveBackUnreturned(deps);
  const [item] = await leaseDue(deps, 'act', 1);
  if (!item) return undefined;
  const result = await withReturn(
    deps,
    [item],
    async () =>
      (await delayUntilIdentified(deps, item)) ??
      actOnEvent(act, item as WorkItem<ActProgress>, stopping),
  );
  if (result.kind === 'paused') setPause(deps, result.code);
  if (result.kind === 'unclear') setPause(deps, 'forbidden', { isCertain: false });
  if (result.kind === 'limited') state.limitedUntil = result.retryAt;
  if (result.kind === 'settled' && result.outcome === 'DONE') state.isDirty = true;
  return result;
}

/** The name may mean another repository since the last start, or none that can be seen. */
async function delayUntilIdentified(
  deps: LoopDeps,
  item: WorkItem,
): Promise<Extract<ActResult, { kind: 'limited' | 'paused' }> | undefined> {
  const { clock, log, state, store } = deps;
  try {
    await deps.identify();
    return undefined;
  } catch (error) {
    await store.giveBack(item);
    log.warn(errorFields(error), 'the repository could not be identified: deletions wait');
    await suspectPause(deps);
    return state.pause
      ? { kind: 'paused', code: state.pause.code }
      : { kind: 'limited', retryAt: clock.now() + IDENTIFY_AGAIN_MS };
  }
}

function setPause(
  { clock, log, probeEveryMs, state }: LoopDeps,
  code: PauseCode,
  { isCertain = true } = {},
): void {
  const now = clock.now();
  if (!state.pause) log.error({ reason: code }, 'the tracker refuses: deletions wait');
  const since = state.pause?.since ?? now;
  state.pause = { code, since, probeAt: now + probeEveryMs, isCertain };
}

function endPause({ log, state }: LoopDeps): void {
  state.pause = undefined;
  log.info({}, 'the tracker allows it again: deletions go on');
}

/**
 * A pause ends when the repository is well, nothing that it tells speaks against writing, and the
 * next event, if there is one, is not refused: not every lack of rights can be read.
 */
async function probe(deps: LoopDeps, pause: Pause): Promise<number> {
  const { clock, editor, probeEveryMs } = deps;
  if (clock.now() < pause.probeAt) return pause.probeAt - clock.now();
  const isForbidden = pause.code === 'forbidden';
  const response = await (isForbidden ? editor.checkWriting() : editor.checkRepository());
  if (response.kind === 'paused') setPause(deps, response.code);
  else if (response.kind !== 'well') pause.probeAt = clock.now() + probeEveryMs;
  else {
    const result = await actOnNext(deps);
    if (result?.kind === 'paused') return probeEveryMs;
    if (result?.kind !== 'unclear') endPause(deps);
  }
  return 0;
}

/** What a deletion was about must not outlive it in the store's files. Holds nothing else up. */
async function scrubWhenDirty({ store, clock, log, state }: LoopDeps): Promise<void> {
  const now = clock.now();
  if (!state.isDirty || now - state.scrubbedAt < SCRUB_EVERY_MS) return;
  state.scrubbedAt = now;
  try {
    state.isDirty = !(await store.scrub());
  } catch (error) {
    log.warn(errorFields(error), 'dropped payloads could not be taken out of the files yet');
  }
}
