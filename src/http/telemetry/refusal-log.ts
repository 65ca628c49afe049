import { type Clock, SECOND } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

/** Refused requests that get a line of their own, per second. */
const LINES_MAX = 10;

/** Prevents refused requests, which anybody can make, from filling the log. */
export type RefusalLog = {
  /** Whether this refused request gets a line of its own; else it is counted in one for all of them. */
  take(code: string): boolean;
  /** Writes that line now: what was counted must not be lost when the server closes. */
  flush(): void;
};

/** The second starts with a refused request, and its line comes at its end, if any was only counted. */
export function createRefusalLog({
  log,
  clock,
}: {
  log: Log;
  clock: Pick<Clock, 'sleep'>;
}): RefusalLog {
  const counts = new Map<string, number>();
  let lines = 0;
  let isOpen = false;

  const flush = (): void => {
    if (counts.size === 0) return;
    const byCode = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const count = byCode.reduce((sum, [, one]) => sum + one, 0);
    const codes = byCode.map(([code, one]) => `${code}=${one}`).join(' ');
    counts.clear();
    log.info({ count, codes }, 'more calls refused');
  };

  const open = async (): Promise<void> => {
    isOpen = true;
    await clock.sleep(SECOND, { unref: true });
    flush();
    lines = 0;
    isOpen = false;
  };

  return {
    take: (code) => {
      if (!isOpen) void open();
      if (lines < LINES_MAX) {
        lines += 1;
        return true;
      }
      counts.set(code, (counts.get(code) ?? 0) + 1);
      return false;
    },
    flush,
  };
}
