import type { TrackerEvent } from '#leads/lead-tracker.ts';

const WAITING_MAX = 1000;

export type EventQueue = {
  /** Never waits and never throws. */
  push(event: TrackerEvent): void;
  /** Resolves when nothing is waiting or being worked on. */
  drained(): Promise<void>;
};

export type EventQueueDeps = {
  work: (event: TrackerEvent) => Promise<void> | void;
  onFailure: (error: unknown) => void;
};

/**
 * Works on events one after the other, in the order in which they came. When more than 1,000 wait,
 * they are dropped for one "everything changed", which is true and cheaper.
 */
export function createEventQueue({ work, onFailure }: EventQueueDeps): EventQueue {
  let waiting: TrackerEvent[] = [];
  let running: Promise<void> | undefined;

  const runAll = async (): Promise<void> => {
    // The answer goes out first, whatever the work does synchronously.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    for (let event = waiting.shift(); event; event = waiting.shift()) {
      try {
        await work(event);
      } catch (error) {
        onFailure(error);
      }
    }
    running = undefined;
  };
  return {
    push: (event) => {
      if (event.kind === 'ignored') return;
      if (waiting.length >= WAITING_MAX) waiting = [{ kind: 'everything' }];
      waiting.push(event);
      running ??= runAll();
    },
    drained: async () => running,
  };
}
