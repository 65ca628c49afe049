import { setImmediate } from 'node:timers/promises';

import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Alarm } from '../alarm.ts';
import type { Stage } from '../work-store.ts';

const STORE_RETRY_MS = SECOND;
/** A store that is away fails every turn: the same failure is logged once in so long. */
const LOG_AGAIN_MS = MINUTE;

export type LoopName = Stage | 'recheck';

/** Why a loop gets nothing done, and since when (ms since the Unix epoch). */
export type LoopFailure = { code: string; since: number };

export type LoopDeps = {
  alarms: Readonly<Record<LoopName, Alarm>>;
  /** Of the loops whose last turn failed. */
  failures: Map<LoopName, LoopFailure>;
  clock: Clock;
  log: Log;
  stopping: AbortSignal;
};

/**
 * Takes one turn after the other until the worker stops. `turn` returns how long to wait at most before
 * the next one, in ms; the loop's alarm ends the wait. Never throws: a turn that fails is taken again.
 */
export async function runLoop(
  deps: LoopDeps,
  name: LoopName,
  turn: () => Promise<number>,
): Promise<void> {
  const { alarms, clock, failures, stopping } = deps;
  const logFailure = createFailureLog(deps, name);
  while (!stopping.aborted) {
    let waitMs = STORE_RETRY_MS;
    try {
      waitMs = await turn();
      failures.delete(name);
    } catch (error) {
      const code = isTrackportError(error) ? error.code : 'internal-error';
      failures.set(name, { code, since: failures.get(name)?.since ?? clock.now() });
      logFailure(error);
    }
    if (waitMs > 0) await alarms[name].wait(waitMs, stopping);
    else await setImmediate(); // the store responds without a pause: others must get their turn
  }
}

function createFailureLog({ clock, log }: LoopDeps, stage: LoopName): (error: unknown) => void {
  const loggedAt = new Map<string, number>();
  return (error) => {
    const now = clock.monotonicMs();
    for (const [failure, at] of loggedAt) if (now - at >= LOG_AGAIN_MS) loggedAt.delete(failure);
    const fields = { stage, ...errorFields(error) };
    const failure = JSON.stringify(fields);
    if (loggedAt.has(failure)) return;
    loggedAt.set(failure, now);
    const level = isTrackportError(error) ? 'warn' : 'error';
    log[level](fields, 'the worker met an error and goes on');
  };
}
