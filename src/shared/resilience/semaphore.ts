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
