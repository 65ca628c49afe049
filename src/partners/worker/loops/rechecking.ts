import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { LOOK_EVERY_MS, type LoopDeps, runLoop } from './run-loop.ts';
import type { Recheck, WorkStore } from '../work-store.ts';

export type RecheckingDeps = LoopDeps & { recheck: RecheckDeps };

/** Looks again for late leads until the worker stops. Never throws. */
export function runRechecking(deps: RecheckingDeps): Promise<void> {
  const { alarms, recheck: rechecking } = deps;
  return runLoop(deps, 'recheck', async () => {
    const waitMs = await recheck(rechecking, () => alarms.act.ring());
    return Math.min(waitMs, LOOK_EVERY_MS);
  });
}

/** When late leads are looked for, after a match. */
export const RECHECKS_MS: readonly number[] = [MINUTE, 10 * MINUTE];

const AT_ONCE = 100;
const RETRY_MS = 30 * SECOND;
/** While the first crawl runs, or the event itself is being matched. */
const NOT_YET_MS = 5 * SECOND;

type RecheckDeps = {
  store: Pick<WorkStore, 'dueRechecks' | 'nextRecheckAt' | 'recheck'>;
  filler: Pick<DirectoryFiller, 'catchUp'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Ascending. */
  rechecksMs: readonly number[];
};

/**
 * Looks again for the people whose leads were matched by e-mail or external id: a replica that lags,
 * with a webhook that was lost, may have hidden one of them. The event is done long before the last
 * look, so that a partner need not wait ten minutes for every receipt, and its payload is gone; one
 * keyed hash in the store stands for the person until then, which survives a restart and costs a row.
 * A lead that was created after the match is no late one: the person has come back.
 *
 * Returns how long to wait at most for the next one that is due, in ms; 0: there are more.
 * `onFound` is called when leads wait for their actions. @throws {store-unavailable}
 */
async function recheck(deps: RecheckDeps, onFound: () => void): Promise<number> {
  const { store, clock, rechecksMs } = deps;
  const now = clock.now();
  const due = await store.dueRechecks(now, AT_ONCE);
  if (due.length === 0) {
    const nextAt = await store.nextRecheckAt();
    return nextAt === undefined ? Infinity : Math.max(1, nextAt - now);
  }
  const state = await catchUpSince(deps, Math.min(...due.map(({ matchedAt }) => matchedAt)));
  if (state !== 'complete') return state === 'failed' ? RETRY_MS : NOT_YET_MS;
  for (const one of due) {
    const next = rechecksMs.find((ms) => one.matchedAt + ms > now);
    const found = await store.recheck(one, {
      now: clock.now(),
      retryAt: clock.now() + NOT_YET_MS,
      ...(next !== undefined && { nextAt: one.matchedAt + next }),
    });
    if (found.length === 0) continue;
    report(deps, one, found);
    onFound();
  }
  return 0;
}

/** Back to before the match, however far the directory has come since: what came late is older. */
async function catchUpSince(
  { filler, log }: RecheckDeps,
  since: number,
): Promise<'complete' | 'crawling' | 'failed'> {
  try {
    return (await filler.catchUp(since)).isComplete ? 'complete' : 'crawling';
  } catch (error) {
    if (!isTrackportError(error) || error.code === 'store-unavailable') throw error;
    log.warn(errorFields(error), 'the tracker could not be asked for late leads');
    return 'failed';
  }
}

function report({ log }: RecheckDeps, one: Recheck, found: readonly number[]): void {
  const { receiptId, partnerId } = one;
  log.info({ receiptId, partnerId, issues: found.join(',') }, 'leads that the tracker showed late');
}
