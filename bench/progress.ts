/** How the bench and the torture show themselves: as the commands do, with the same line. */
import { createProgress } from '#cli/progress.ts';
import { type Clock, SECOND, sleepUntilAborted, systemClock } from '#shared/clock.ts';
import type { OnProgress } from '#shared/report.ts';

/** On standard error: a line in place on a terminal, plain lines elsewhere. */
export function showOnStandardError(): OnProgress {
  const { stderr } = process;
  const note = (text: string): void => void stderr.write(`${text}\n`);
  const terminal = { note, isInteractive: stderr.isTTY };
  return createProgress({ terminal, clock: systemClock });
}

type MeasuringOptions = { total: number; clock: Clock; onProgress: OnProgress };

/**
 * Runs groups of figures, `total` of them, one after another, and tells once a second how many are
 * measured, which one is at hand, and for how long.
 */
export function createMeasuring({ total, clock, onProgress }: MeasuringOptions) {
  let done = 0;
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = clock.monotonicMs();
    const over = new AbortController();
    const tell = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const seconds = Math.round((clock.monotonicMs() - startedAt) / SECOND);
        onProgress(done, total, 'groups', `${name}, ${seconds} s`);
        await sleepUntilAborted(clock, SECOND, over.signal);
      }
    };
    const telling = tell();
    try {
      return await work();
    } finally {
      over.abort();
      await telling;
      done += 1;
      if (done === total) onProgress(done, total, 'groups');
    }
  };
}
