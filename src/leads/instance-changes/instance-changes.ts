import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';

import type { Listening } from '#shared/database.ts';
import { type InstanceChange, parseChanges } from './instance-change.ts';
import type { ChangeLog } from './change-log.ts';
import { createOutbox, type Outlet } from './outbox.ts';

/** Takes the changes that others publish. Neither function may wait or throw. */
type ChangeSubscriber = {
  /** A change that another instance published. The same may come twice. */
  onChange: (change: InstanceChange) => void;
  /** Changes were missed: any response that is cached may be out of date. */
  onGap: () => void;
};

/**
 * Carries changes that one instance learnt to the others on the same store. Each change is in the store
 * within half a second and comes to every other instance once or more, in the order of its
 * publication. An instance that was away for longer than the store keeps changes is told of a gap.
 * Nobody learns of changes that an instance had not published when it was killed.
 */
export type InstanceChanges = {
  /** Never waits and never throws. What the store fails is published later, as "everything". */
  publish(change: InstanceChange): void;
  /**
   * Begins to look for changes, from now on, when the store says that there are some, and twice a
   * second. Once, before anything is cached.
   * @throws {store-unavailable}
   */
  subscribe(subscriber: ChangeSubscriber): Promise<void>;
  /** True while all that was in the store a second ago has come to the subscriber. Cheap. */
  isCurrent(): boolean;
  /** Resolves when all that was in the store at the call has come. @throws {store-unavailable} */
  catchUp(): Promise<void>;
  /** Resolves when all that was published is in the store, or given up. */
  settled(): Promise<void>;
  /** The same, and looks for changes no more. */
  close(): Promise<void>;
};

type ChangeSource = Outlet & { changes: ChangeLog };

/** Even when the store does not call: a change is known a second after its publication at the latest. */
const LOOK_EVERY_MS = SECOND / 2;
/** An event loop that was held up, or a process that was stopped, looks before it responds. */
const CURRENT_FOR_MS = SECOND;

export function createInstanceChanges({ changes, clock, log }: ChangeSource): InstanceChanges {
  const outbox = createOutbox({ changes, clock, log });
  const closing = new AbortController();
  let follower: Follower | undefined;
  let looking: Promise<void> | undefined;
  let watch: Listening | undefined;
  return {
    publish: (change) => outbox.put(change),
    subscribe: async (subscriber) => {
      const started = createFollower({ changes, clock }, subscriber, await changes.lastPosition());
      follower = started;
      watch = changes.watch(() => void look(started));
      looking = lookOften(started, clock, closing.signal);
    },
    isCurrent: () => follower?.isCurrent() ?? true,
    catchUp: async () => follower?.catchUp(),
    settled: () => outbox.settled(),
    close: async () => {
      closing.abort();
      await Promise.all([outbox.settled(), looking, watch?.close()]);
    },
  };
}

/** Knows whether what other instances learnt has arrived here. */
export type Follower = Pick<InstanceChanges, 'isCurrent' | 'catchUp'>;

/** Follows the log from `start` on. */
function createFollower(
  { changes, clock }: Omit<ChangeSource, 'log'>,
  { onChange, onGap }: ChangeSubscriber,
  start: number,
): Follower {
  let position = start;
  let lookedAt = clock.monotonicMs();
  return {
    isCurrent: () => clock.monotonicMs() - lookedAt < CURRENT_FOR_MS,
    catchUp: createNextTurnFlight(async () => {
      const startedAt = clock.monotonicMs();
      for (const batch of await changes.readAfter(position)) {
        if (batch.position !== position + 1) onGap();
        position = batch.position;
        if (batch.text === undefined) continue;
        for (const change of parseChanges(batch.text)) onChange(change);
      }
      lookedAt = startedAt;
    }),
  };
}

async function lookOften(follower: Follower, clock: Clock, closing: AbortSignal): Promise<void> {
  while (!closing.aborted) {
    await sleepUntilAborted(clock, LOOK_EVERY_MS, closing);
    await look(follower);
  }
}

/** Never throws: readers look themselves while this fails, and tell of it. */
async function look(follower: Follower): Promise<void> {
  await follower.catchUp().catch(() => undefined);
}
