/** Work that may overlap, and work that may not. */
export type Turns = {
  /** Runs at once, unless work that runs alone is under way or waits. */
  together<T>(work: () => Promise<T>): Promise<T>;
  /** Runs when all before it has ended, and what comes behind it waits for its end. */
  alone<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * Lets writes that rely on what was read before them have the store to themselves, as far as this
 * process is concerned: only another process can come between.
 */
export function createTurns(): Turns {
  const running = new Set<Promise<unknown>>();
  let lastAlone: Promise<unknown> = Promise.resolve();
  return {
    together: (work) => {
      const turn = lastAlone.then(work);
      const ended = settled(turn);
      running.add(ended);
      void ended.then(() => running.delete(ended));
      return turn;
    },
    alone: (work) => {
      const turn = Promise.all([lastAlone, ...running]).then(work);
      lastAlone = settled(turn);
      return turn;
    },
  };
}

function settled(turn: Promise<unknown>): Promise<void> {
  const end = (): void => undefined;
  return turn.then(end, end);
}
