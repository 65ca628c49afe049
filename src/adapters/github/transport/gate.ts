/** Lets a bounded number of calls through at a time; the others wait in order. */
export type Gate = {
  /** Resolves to the function that leaves the gate. @throws the signal's reason when aborted */
  enter(signal: AbortSignal): Promise<() => void>;
};

export function createGate(insideMax: number): Gate {
  const waiting = new Set<() => void>();
  let inside = 0;

  const leave = (): void => {
    const [next] = waiting;
    if (!next) {
      inside -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return {
    enter: async (signal) => {
      signal.throwIfAborted();
      if (inside < insideMax) inside += 1;
      else await place(waiting, signal);
      return leave;
    },
  };
}

function place(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.delete(enter);
      reject(signal.reason as Error);
    };
    const enter = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.add(enter);
  });
}

/**
 * `promise`, but rejects with the signal's reason as soon as it is aborted. A failure of `promise`
 * after that is nobody's any more.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
