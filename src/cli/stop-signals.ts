import type { Clock } from '#shared/clock.ts';

/** npm, a shell and our own launcher each pass one Ctrl-C on: it counts once. */
const SAME_SIGNAL_MS = 100;

/**
 * Resolves at the first SIGINT or SIGTERM. A second one, which is a person losing patience, ends
 * the process at once with exit code 1.
 */
export function nextStopSignal(clock: Pick<Clock, 'now'>): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (firstAt === undefined) {
        firstAt = clock.now();
        resolve(signal);
      } else if (clock.now() - firstAt >= SAME_SIGNAL_MS) {
        process.exit(1);
      }
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
