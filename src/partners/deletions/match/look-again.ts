import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { LateLook, LateLookStore } from './late-look-store.ts';

/** When late leads are looked for, after a match. */
export const LATE_LOOKS_MS: readonly number[] = [MINUTE, 10 * MINUTE];

const LOOKS_AT_ONCE = 100;
const RETRY_MS = 30 * SECOND;
/** While the first crawl runs, or the event itself is being matched. */
const NOT_YET_MS = 5 * SECOND;

export type LookAgainDeps = {
  store: LateLookStore;
  filler: Pick<DirectoryFiller, 'catchUp'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Ascending. */
  lateLooksMs: readonly number[];
};

/**
 * Looks again for the people whose leads were matched by e-mail or external id: a replica that lags,
 * with a webhook that was lost, may have hidden one of them. The event is done long before the last
 * look, so that a partner need not wait ten minutes for every receipt, and its payload is gone; one
 * keyed hash in the store stands for the person until then, which survives a restart and costs a row.
 * A lead that was created after the match is no late one: the person has come back.
 *
 * Returns how long to wait at most for the next look that is due, in ms; 0: there are more.
 * `onFound` is called when leads wait for their actions. @throws {store-unavailable}
 */
export async function lookAgain(deps: LookAgainDeps, onFound: () => void): Promise<number> {
  const { store, clock, lateLooksMs } = deps;
  const now = clock.now();
  const looks = await store.dueLooks(now, LOOKS_AT_ONCE);
  if (looks.length === 0) {
    const nextAt = await store.nextLookAt();
    return nextAt === undefined ? Infinity : Math.max(1, nextAt - now);
  }
  const state = await catchUpSince(deps, Math.min(...looks.map(({ matchedAt }) => matchedAt)));
  if (state !== 'complete') return state === 'failed' ? RETRY_MS : NOT_YET_MS;
  for (const look of looks) {
    const next = lateLooksMs.find((ms) => look.matchedAt + ms > now);
    const found = await store.lookAgain(look, {
      now: clock.now(),
      retryAt: clock.now() + NOT_YET_MS,
      ...(next !== undefined && { nextAt: look.matchedAt + next }),
    });
    if (found.length === 0) continue;
    report(deps, look, found);
    onFound();
  }
  return 0;
}

/** Back to before the match, however far the directory has come since: what came late is older. */
async function catchUpSince(
  { filler, log }: LookAgainDeps,
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

function report({ log }: LookAgainDeps, look: LateLook, found: readonly number[]): void {
  const { receiptId, partnerId } = look;
  log.info({ receiptId, partnerId, issues: found.join(',') }, 'leads that the tracker showed late');
}
