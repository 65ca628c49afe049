/**
 * Calls share one run of `work`, and every call is served by a run that began after it: a call
 * while one is in flight waits for the next, which serves all that came meanwhile.
 */
export function createSharedRun<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = async (): Promise<T> => {
    const run = work();
    running = run;
    try {
      return await run;
    } finally {
      running = undefined;
    }
  };
  const startNext = async (before: Promise<T>): Promise<T> => {
    await before.catch(() => undefined); // its own callers hear of the failure
    next = undefined;
    return start();
  };
  return () => {
    if (!running) return start();
    next ??= startNext(running);
    return next;
  };
}
