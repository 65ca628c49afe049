import { recheck, type RecheckDeps } from '../../deletions/match/recheck.ts';
import { SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { type MatchDeps, matchEvents } from '../../deletions/match/match-event.ts';
import { type Leasing, LOOK_EVERY_MS } from '../leasing.ts';
import type { WorkStore } from '../work-store.ts';
import { type LoopDeps, runLoop } from './run-loop.ts';

const MATCH_BATCH = 100;
/** Deliveries that another process accepted are to be claimed within a second as well. */
const WATCH_EVERY_MS = SECOND / 5;

export type MatchingDeps = LoopDeps & {
  store: Pick<WorkStore, 'moveBack' | 'changedElsewhere'>;
  leasing: Leasing;
  match: MatchDeps;
};

/** Claims what is due, batch by batch, until the worker stops. Never throws. */
export function runMatching(deps: MatchingDeps): Promise<void> {
  const { alarms, leasing, match } = deps;
  const noticeClock = watchClock(deps);
  return runLoop(deps, 'match', async () => {
    await noticeClock();
    const items = await leasing.lease('match', MATCH_BATCH);
    if (items.length === 0) return leasing.waitMs('match');
    await leasing.workOn(items, () => matchEvents(match, items));
    alarms.act.ring();
    return 0;
  });
}

/** What waits for an instant of a clock that was wrong would wait for as long as it was wrong. */
function watchClock({ alarms, clock, log, store }: MatchingDeps): () => Promise<void> {
  let seenAt = -Infinity;
  return async () => {
    const now = clock.now();
    const byMs = seenAt - now;
    if (byMs >= SECOND) {
      log.warn({ byMs }, 'the clock was set back');
      await store.moveBack(byMs, now);
      alarms.act.ring();
    }
    seenAt = now;
  };
}

/** Notices what other processes have queued, until the worker stops. Never throws. */
export async function runWatching({
  store,
  alarms,
  clock,
  stopping,
}: Pick<MatchingDeps, 'store' | 'alarms' | 'clock' | 'stopping'>): Promise<void> {
  while (!stopping.aborted) {
    if (await store.changedElsewhere().catch(() => false)) alarms.match.ring();
    await sleepUntilAborted(clock, WATCH_EVERY_MS, stopping);
  }
}

export type RecheckingDeps = LoopDeps & { recheck: RecheckDeps };

/** Looks again for late leads until the worker stops. Never throws. */
export function runRechecking(deps: RecheckingDeps): Promise<void> {
  const { alarms, recheck: rechecking } = deps;
  return runLoop(deps, 'recheck', async () => {
    const waitMs = await recheck(rechecking, () => alarms.act.ring());
    return Math.min(waitMs, LOOK_EVERY_MS);
  });
}
