import type { DirectoryFiller, LearnedLead } from '#leads/directory/fill-directory.ts';
import { sleepUntilAborted } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';

export type FindLeadDeps = {
  filler: Pick<DirectoryFiller, 'learn'>;
  clock: Pick<Clock, 'sleep'>;
};

/**
 * Reads a lead from the tracker by its number, which needs no directory, and takes it in. `unknown`: the
 * tracker fails, or did not respond within `waitMs` milliseconds; then the lead is in the
 * directory when it has come. @throws {store-unavailable}
 */
export async function findLead(
  { filler, clock }: FindLeadDeps,
  number: number,
  waitMs: number,
): Promise<LearnedLead | 'unknown'> {
  const waited = new AbortController();
  const request = filler.learn(number).catch((error: unknown) => {
    if (!isTrackportError(error) || error.code === 'store-unavailable') throw error;
    return 'unknown' as const;
  });
  const tooLate = sleepUntilAborted(clock, waitMs, waited.signal).then(() => 'unknown' as const);
  try {
    return await Promise.race([request, tooLate]);
  } finally {
    request.catch(() => undefined); // the next try meets a failing store by itself
    waited.abort();
  }
}
