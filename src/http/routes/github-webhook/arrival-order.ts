import type { TrackerEvent } from '#leads/lead-tracker.ts';

/** One delivery, from its arrival until it is known what it says. */
export type Arrival = {
  /** What its event is among those that came after it and were faster. */
  place(event: TrackerEvent): TrackerEvent;
  /** To be called in any case. */
  leave(): void;
};

/**
 * Keeps a large delivery, whose verification takes long, from undoing what a later one said. Nobody
 * waits for it. The tracker's clock shows whole seconds, and of two events of one second the later
 * one counts: so an event that was overtaken gets to be a millisecond older, which the cache and the
 * directory take for what it is.
 */
export function createArrivalOrder(): { arrive(): Arrival } {
  let last = 0;
  /** In the order of arrival. */
  const pending = new Set<number>();
  /** By issue: the latest arrival that overtook one that is pending still, the latest last. */
  const overtaking = new Map<number, number>();
  const first = (): number => pending.values().next().value ?? Infinity;
  const forget = (): void => {
    for (const [number, arrival] of overtaking) {
      if (arrival > first()) return;
      overtaking.delete(number);
    }
  };
  return {
    arrive: () => {
      const arrival = (last += 1);
      pending.add(arrival);
      return {
        place: (event) => {
          if (event.kind !== 'issue') return event;
          const { issue } = event;
          const overtakenBy = overtaking.get(issue.number) ?? 0;
          if (overtakenBy > arrival)
            return { ...event, issue: { ...issue, updatedAt: issue.updatedAt - 1 } };
          if (first() < arrival) {
            overtaking.delete(issue.number);
            overtaking.set(issue.number, arrival);
          }
          return event;
        },
        leave: () => {
          pending.delete(arrival);
          forget();
        },
      };
    },
  };
}
