import { setImmediate } from 'node:timers/promises';

import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import type { Alarm } from '../alarm.ts';
import type { Stage } from '../work-store.ts';

const STORE_RETRY_MS = SECOND;

export type LoopName = Stage | 'look';

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
  { alarms, clock, failures, log, stopping }: LoopDeps,
  name: LoopName,
  turn: () => Promise<number>,
): Promise<void> {
  while (!stopping.aborted) {
    let waitMs = STORE_RETRY_MS;
    try {
      waitMs = await turn();
      failures.delete(name);
    } catch (error) {
      const code = isTrackportError(error) ? error.code : 'internal-error';
      failures.set(name, { code, since: failures.get(name)?.since ?? clock.now() });
      log.error({ stage: name, ...errorFields(error) }, 'the worker met an error and goes on');
    }
    if (waitMs > 0) await alarms[name].wait(waitMs, stopping);
    else await setImmediate(); // the store responds without a pause: others must get their turn
  }
}
