import type { TrackerEvent } from '#leads/lead-tracker.ts';

const WAITING_MAX = 1000;
/** Then others get a turn of the event loop. */
const EVENTS_PER_TURN = 50;

export type EventQueue = {
  /** Never waits and never throws. */
  push(event: TrackerEvent): void;
  /** Resolves when nothing is waiting. */
  drained(): Promise<void>;
};

export type EventQueueDeps = {
  work: (event: TrackerEvent) => void;
  onFailure: (error: unknown) => void;
};

/**
 * Works on events after the responses to their deliveries, in the order in which they came. When more
 * than 1,000 wait, they are dropped for one "everything changed", which is true and cheaper.
 */
export function createEventQueue({ work, onFailure }: EventQueueDeps): EventQueue {
  let waiting: TrackerEvent[] = [];
  let running: Promise<void> | undefined;

  const workOnSome = (): void => {
    for (const event of waiting.splice(0, EVENTS_PER_TURN)) {
      try {
        work(event);
      } catch (error) {
        onFailure(error);
      }
    }
  };
  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      // The response goes out first, whatever the work does.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      workOnSome();
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
