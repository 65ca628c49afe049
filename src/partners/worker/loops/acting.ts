import { type Clock, SECOND } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { type Acting, actOnEvent, type ActResult } from '../act/act-on-event.ts';
import type { IssueEditor } from '../act/issue-editor.ts';
import type { ActProgress, Settlement, WorkItem } from '../work-item.ts';
import { type Leasing, type Loop, runLoop } from './run-loop.ts';
import type { Pause, TrackerPause } from '../may-write.ts';
import { giveBack } from '../lease-events.ts';
import type { Database } from '#shared/database.ts';

const IDENTIFY_AGAIN_MS = 5 * SECOND;
/** With these an event's payload is dropped. */
const DROPPING: ReadonlySet<Settlement['outcome']> = new Set(['DONE', 'IGNORED']);

export type ActingLoop = Loop & {
  db: Database;
  editor: Pick<IssueEditor, 'checkRepository' | 'checkWriting'>;
  /** Finds the repository that the name means, so that no issue of another is changed. `DirectoryFiller` has it. */
  identify(): Promise<void>;
  leasing: Leasing;
  pause: TrackerPause;
  walTruncation: WalTruncation;
  acting: Acting;
  /** Interval of probes while the work is paused, in ms. */
  probeEveryMs: number;
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

/** Undefined when nothing is due. `among`: of so many that would go first, the one that has been due for longest. */
async function actOnNext(loop: ActingLoop, among = 1): Promise<ActResult | undefined> {
  const { acting, db, leasing, pause, walTruncation, stopping } = loop;
  const leased = await leasing.lease('act', among);
  const [item, ...others] = leased.toSorted((left, right) => left.dueAt - right.dueAt);
  if (!item) return undefined;
  await leasing.workOn(leased, () => Promise.all(others.map((other) => giveBack(db, other))));
  const result = await leasing.workOn(
    [item],
    async () =>
      (await delayUntilIdentified(loop, item)) ??
      actOnEvent(acting, item as WorkItem<ActProgress>, stopping),
  );
  if (result.kind === 'paused') pause.begin(result.code);
  if (result.kind === 'limited') pause.limitUntil(result.retryAt);
  if (result.kind === 'settled' && DROPPING.has(result.outcome)) walTruncation.noteDropped();
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

/** Something says that the tracker may have locked us out: asks the tracker. */
export async function suspectPause({
  editor,
  pause,
  stopping,
}: {
  editor: Pick<IssueEditor, 'checkRepository'>;
  pause: TrackerPause;
  stopping: AbortSignal;
}): Promise<void> {
  if (stopping.aborted) return;
  const response = await editor.checkRepository();
  if (response.kind === 'paused') pause.begin(response.code);
}

/** Events that a probe chooses from: one that was refused is due anew, and so the last of them, and must not keep all others waiting. */
const PROBE_AMONG = 50;

/**
 * A pause ends when the repository is well, nothing that it tells speaks against writing, and the
 * next event, if there is one, is not refused: not every lack of rights can be read.
 */
async function probe(loop: ActingLoop, { code, probeAt }: Readonly<Pause>): Promise<number> {
  const { clock, editor, pause, probeEveryMs } = loop;
  const waitMs = probeAt - clock.monotonicMs();
  if (waitMs > 0) return waitMs;
  const response = await (code === 'forbidden' ? editor.checkWriting() : editor.checkRepository());
  if (response.kind === 'paused') pause.begin(response.code);
  else if (response.kind !== 'well') pause.probeLater();
  else {
    const result = await actOnNext(loop, PROBE_AMONG);
    if (result?.kind === 'paused') return probeEveryMs;
    pause.end();
  }
  return 0;
}

/** Dropped payloads are taken out of the store's files at most this often. */
const EVERY_MS = SECOND;

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
      if (!isDirty || now - truncatedAt < EVERY_MS) return;
      truncatedAt = now;
      try {
        isDirty = !(await db.truncateWal());
      } catch (error) {
        log.warn(errorFields(error), 'dropped payloads could not be taken out of the files yet');
      }
    },
    waitMs: () => (isDirty ? EVERY_MS : Infinity),
  };
}
