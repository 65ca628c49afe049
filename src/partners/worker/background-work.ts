import { SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import type { WorkerLock } from './worker-lock.ts';

/** How soon a process that stands by takes over once the other one is gone. */
const TRY_EVERY_MS = 2 * SECOND;

export type BackgroundWorkDeps = {
  lock: WorkerLock;
  jobs: Jobs;
  clock: Clock;
  log: Log;
};

/** What only one process of a store may do at a time. */
type Jobs = {
  /** Called again when it failed. @throws {store-unavailable} */
  start(): Promise<void>;
  /** Called now and then while another process does the work. */
  standBy(): Promise<void>;
  /** Also when nothing was started. Resolves when nothing is under way any more. */
  stop(): Promise<void>;
};

/** Lets one process of a store work, and the others stand by to take over. */
export type BackgroundWork = {
  /** Works, or stands by. @throws {store-unavailable} */
  start(): Promise<void>;
  state(): 'working' | 'standby' | 'stopped';
  /** Ends the work first and gives the right to it back then. Idempotent. */
  stop(): Promise<void>;
};

export function createBackgroundWork(deps: BackgroundWorkDeps): BackgroundWork {
  const { lock, jobs, clock, log } = deps;
  const stopping = new AbortController();
  let state: ReturnType<BackgroundWork['state']> = 'stopped';
  let waiting: Promise<void> | undefined;

  const begin = async (): Promise<boolean> => {
    if (!(await lock.take())) return false;
    await jobs.start();
    state = 'working';
    return true;
  };

  const standBy = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await jobs.standBy();
        if (await begin()) return log.info({}, 'the other process is gone: this one works now');
      } catch (error) {
        log.error(errorFields(error), 'the work on the store could not be taken over');
      }
      await sleepUntilAborted(clock, TRY_EVERY_MS, stopping.signal);
    }
  };

  return {
    start: async () => {
      if (await begin()) return;
      state = 'standby';
      log.info({}, 'another process works on this store: this one stands by');
      waiting = standBy();
    },
    state: () => state,
    stop: async () => {
      stopping.abort(new Error('the work stops'));
      await waiting;
      await jobs.stop();
      state = 'stopped';
      await lock.release();
    },
  };
}
