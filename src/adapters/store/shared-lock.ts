/** Work that may overlap shares the lock; work that may not has it alone. Within this process. */
export type SharedLock = {
  /** Runs at once, unless work that has the lock alone is under way or waits. */
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Runs when all before it has ended, and what comes behind it waits for its end. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * Lets writes that rely on what was read before them have the store to themselves, as far as this
 * process is concerned: only another process can come between.
 */
export function createSharedLock(): SharedLock {
  const sharing = new Set<Promise<unknown>>();
  let lastExclusive: Promise<unknown> = Promise.resolve();
  return {
    shared: (work) => {
      const running = lastExclusive.then(work);
      const ended = settled(running);
      sharing.add(ended);
      void ended.then(() => sharing.delete(ended));
      return running;
    },
    exclusive: (work) => {
      const running = Promise.all([lastExclusive, ...sharing]).then(work);
      lastExclusive = settled(running);
      return running;
    },
  };
}

function settled(running: Promise<unknown>): Promise<void> {
  const end = (): void => undefined;
  return running.then(end, end);
}
