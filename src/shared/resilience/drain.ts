/** Works off in the background what was put somewhere, for as long as there is some. */
type Drain = {
  /** To be called when there is something to do. Nothing happens while it is at work. */
  start(): void;
  /** Resolves when nothing is left to do, or all of it was given up. */
  settled(): Promise<void>;
};

export function createDrain({
  hasWork,
  work,
}: {
  hasWork: () => boolean;
  /**
   * Does some of it, and waits as long as more may come that is better done together. Never rejects.
   * `hurry` is aborted as soon as somebody waits for the end.
   */
  work: (hurry: AbortSignal) => Promise<void>;
}): Drain {
  let running: Promise<void> | undefined;
  let hurry = new AbortController();
  const run = async ({ signal }: AbortController): Promise<void> => {
    while (hasWork()) await work(signal);
    running = undefined; // at once: what is put from now on starts it again
  };
  return {
    start: () => {
      if (running || !hasWork()) return;
      hurry = new AbortController();
      running = run(hurry);
    },
    settled: async () => {
      hurry.abort();
      await running;
    },
  };
}
