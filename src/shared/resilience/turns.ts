/** Ways to let calls take turns: one at a time, so many at a time, or so much in a turn of the event loop. */
import { setImmediate } from 'node:timers/promises';

/** Runs one call at a time, in the order in which they were asked for. A failure is told to its caller alone. */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** Lets a bounded number of calls through at a time; the others wait in order. */
type Semaphore = {
  /** Resolves to the function that makes room again. @throws the signal's reason when aborted */
  acquire(signal: AbortSignal): Promise<() => void>;
};

export function createSemaphore(callsMax: number): Semaphore {
  const waiting = new Set<() => void>();
  let calls = 0;

  const release = (): void => {
    const [next] = waiting;
    if (!next) {
      calls -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return {
    acquire: async (signal) => {
      signal.throwIfAborted();
      if (calls < callsMax) calls += 1;
      else await waitForRoom(waiting, signal);
      return release;
    },
  };
}

function waitForRoom(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.delete(proceed);
      reject(signal.reason as Error);
    };
    const proceed = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.add(proceed);
  });
}

type Turn = { left: number; over: Promise<void> };

/**
 * Lets other work in between: in one turn of the event loop callers pass until their sizes come to `max`, and the rest
 * waits for the next turns. A caller that is larger than `max` passes, and has the rest of its turn to itself.
 */
export function createTurns(max: number): (size?: number) => Promise<void> {
  let current: Turn | undefined;
  return async (size = 1) => {
    for (;;) {
      const turn = (current ??= { left: max, over: setImmediate() });
      if (turn.left > 0) {
        turn.left -= size;
        return;
      }
      await turn.over;
      if (current === turn) current = undefined;
    }
  };
}
