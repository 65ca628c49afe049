/** Collects what was acquired; `releaseAll` gives it back, last first, each once. */
export type CleanupStack = {
  push(name: string, release: () => Promise<void> | void): void;
  /** Runs every release even when one fails, then throws the first failure. Idempotent. */
  releaseAll(): Promise<void>;
};

export function createCleanupStack(): CleanupStack {
  const held: { name: string; release: () => Promise<void> | void }[] = [];
  return {
    push: (name, release) => {
      held.push({ name, release });
    },
    releaseAll: async () => {
      const failures: Error[] = [];
      for (let item = held.pop(); item; item = held.pop()) {
        try {
          await item.release();
        } catch (error) {
          failures.push(new Error(`could not release ${item.name}`, { cause: error }));
        }
      }
      if (failures[0]) throw failures[0];
    },
  };
}
