import type { DirectoryFiller, LearnedLead } from '#leads/directory/fill-directory.ts';
import { sleepUntilAborted, type Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';

export type AskForLeadDeps = {
  filler: Pick<DirectoryFiller, 'learn'>;
  clock: Pick<Clock, 'sleep'>;
};

/**
 * Asks the tracker for a lead by its number, which needs no directory, and takes it in. `unknown`: the
 * tracker fails, or did not answer within `waitMs` milliseconds; then the answer is in the
 * directory when it has come. @throws {store-unavailable}
 */
export async function askForLead(
  { filler, clock }: AskForLeadDeps,
  number: number,
  waitMs: number,
): Promise<LearnedLead | 'unknown'> {
  const waited = new AbortController();
  const asked = filler.learn(number).catch((error: unknown) => {
    if (!isTrackportError(error) || error.code === 'store-unavailable') throw error;
    return 'unknown' as const;
  });
  const tooLate = sleepUntilAborted(clock, waitMs, waited.signal).then(() => 'unknown' as const);
  try {
    return await Promise.race([asked, tooLate]);
  } finally {
    asked.catch(() => undefined); // the next try meets a failing store by itself
    waited.abort();
  }
}
