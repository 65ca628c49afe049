import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Counts how often this thread came to its other work until `work` had ended: 0 when that held it up. No clock
 * is asked, so that neither a fast machine nor a busy one changes what it shows.
 */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  const ended = work.then(
    () => true,
    () => true,
  );
  let turns = 0;
  while (!(await Promise.race([ended, nextTurn(false)]))) turns += 1;
  await work;
  return turns;
}
