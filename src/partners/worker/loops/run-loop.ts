import { setImmediate } from 'node:timers/promises';
import { type Clock, MINUTE, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Database } from '#shared/database.ts';
import { giveBack, leaseEvents, nextDueAt } from '../lease-events.ts';
import type { Stage, WorkItem } from '../work-item.ts';

/** Lets a loop sleep until there is something to do. */
export type Alarm = {
  /** Ends the wait, or the next one when nobody waits. */
  ring(): void;
  /** Resolves after `ms` milliseconds, when it rings, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

export function createAlarm(clock: Clock): Alarm {
  let hasRung = false;
  let wake = (): void => {};
  return {
    ring: () => {
      hasRung = true;
      wake();
    },
    wait: async (ms, signal) => {
      const over = new AbortController();
      const rung = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const slept = sleepUntilAborted(clock, ms, AbortSignal.any([signal, over.signal]));
      if (!hasRung) await Promise.race([rung, slept]);
      hasRung = false;
      over.abort();
    },
  };
}

/** Should an alarm ever be missed. */
const LOOK_EVERY_MS = 5 * SECOND;

/** Takes events from the store, and sees to it that none stays taken when the store fails half-way. */
export type Leasing = {
  /** Up to `limit` due events of the stage. @throws {store-unavailable} */
  lease(stage: Stage, limit: number): Promise<readonly WorkItem[]>;
  /** Works on leased items: when that throws, they are given back before the next are leased. */
  workOn<T>(items: readonly WorkItem[], work: () => Promise<T>): Promise<T>;
  /** Time until an event of the stage is due, 5 s at most; in ms. @throws {store-unavailable} */
  waitMs(stage: Stage): Promise<number>;
};

/** @see Leasing */
export function createLeasing({
  db,
  instance,
  sealer,
  clock,
  waitMaxMs,
}: {
  db: Database;
  /** Holder of the right to work: while another one has it, nothing is leased here. */
  instance: string;
  /** Opens the bytes of events. */
  sealer: Sealer;
  clock: Pick<Clock, 'now'>;
  /** No event of the stage ever waits longer than this, in ms. */
  waitMaxMs: (stage: Stage) => number;
}): Leasing {
  let unreturned: readonly WorkItem[] = [];
  const giveBackUnreturned = async (): Promise<void> => {
    const items = unreturned;
    if (items.length === 0) return;
    await Promise.all(items.map((item) => giveBack(db, item)));
    unreturned = unreturned.filter((item) => !items.includes(item));
  };
  return {
    lease: async (stage, limit) => {
      await giveBackUnreturned();
      const due = { now: clock.now(), limit, aheadMaxMs: waitMaxMs(stage) };
      return leaseEvents({ db, instance, sealer }, stage, due);
    },
    workOn: async (items, work) => {
      try {
        return await work();
      } catch (error) {
        unreturned = [...unreturned, ...items];
        throw error;
      }
    },
    waitMs: async (stage) => {
      const dueAt = await nextDueAt(db, stage);
      if (dueAt === undefined) return LOOK_EVERY_MS;
      return Math.min(LOOK_EVERY_MS, Math.max(1, dueAt - clock.now()));
    },
  };
}

const STORE_RETRY_MS = SECOND;
/** A store that is away fails every turn: the same failure is logged once in so long. */
const LOG_AGAIN_MS = MINUTE;

/** Why a loop gets nothing done, and since when (ms since the Unix epoch). */
export type LoopFailure = { code: string; since: number };

/** The loops of one worker. */
export type Loop = {
  alarms: Readonly<Record<Stage, Alarm>>;
  /** Of the loops whose last turn failed. */
  failures: Map<Stage, LoopFailure>;
  clock: Clock;
  log: Log;
  stopping: AbortSignal;
};

/**
 * Takes one turn after the other until the worker stops. `turn` returns how long to wait at most before
 * the next one, in ms; the loop's alarm ends the wait. Never throws: a turn that fails is taken again.
 */
export async function runLoop(loop: Loop, name: Stage, turn: () => Promise<number>): Promise<void> {
  const { alarms, clock, failures, stopping } = loop;
  const logFailure = createFailureLog(loop, name);
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

function createFailureLog({ clock, log }: Loop, stage: Stage): (error: unknown) => void {
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
