import { setImmediate as afterTurn } from 'node:timers/promises';

/** Ends after what this thread has been given to do by now, and what that led to at once. */
export async function nextTurn(): Promise<void> {
  await afterTurn();
}

/**
 * How often this thread came to its other work until `work` had ended: 0 when that held it up. No clock
 * is asked, so that neither a fast machine nor a busy one changes what it shows.
 */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  const ended = work.then(
    () => true,
    () => true,
  );
  let turns = 0;
  while (!(await Promise.race([ended, nextTurn()]))) turns += 1;
  await work;
  return turns;
}
