import type { InstanceChange } from './instance-change.ts';

/** What one instance published at once. */
export type ChangeBatch = {
  /** 1, 2, 3, … without holes, over all instances. */
  position: number;
  /** Empty when this instance published it itself: it knows already. */
  changes: readonly InstanceChange[];
};

/**
 * Port: the changes in the store, in one order for all instances. A batch is visible once it is
 * committed, and never later than one of a greater position. The newest 256 batches are kept, so that
 * whoever finds a hole in the positions has missed something; the newest is never deleted.
 */
export type ChangeLog = {
  /** Adds a batch behind all others. @throws {store-unavailable} nothing, or nobody can know, was added */
  append(changes: readonly InstanceChange[]): Promise<void>;
  /** The newest batch's; 0 when there was none ever. @throws {store-unavailable} */
  lastPosition(): Promise<number>;
  /**
   * All that are kept of the batches behind `position`, in order. Cheap when there are none: called
   * several times a second. A store that lost what was read before (a failover to a server that
   * lagged) yields batches that do not follow on `position`. @throws {store-unavailable}
   */
  readAfter(position: number): Promise<readonly ChangeBatch[]>;
  /**
   * Calls `onAppended` soon after a batch was committed by anybody, at most once for all of a moment,
   * and whenever it cannot know whether one was. While the store is away nobody is called.
   */
  watch(onAppended: () => void): Watch;
};

/** Idempotent, and to be closed before the store. */
export type Watch = { close(): Promise<void> };

/** How many batches a change log keeps. */
export const BATCHES_KEPT = 256;
