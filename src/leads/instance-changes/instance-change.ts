import { z } from 'zod';

import type { IssueFacts, TrackerEvent } from '../lead-tracker.ts';

/** What one instance tells the others: which of the tracker's responses may be out of date. */
export type InstanceChange =
  /** The issue is now as `issue` says; `isGone`: deleted, or in another repository. */
  | { kind: 'issue'; issue: IssueFacts; isGone: boolean }
  /** Any issue may look different. */
  | { kind: 'everything' };

/** The event without its people and its texts; undefined when there is nothing to tell. */
export function toInstanceChange(event: TrackerEvent): InstanceChange | undefined {
  if (event.kind === 'ignored') return undefined;
  if (event.kind === 'everything') return { kind: 'everything' };
  const { number, state, labels, createdAt, updatedAt, isPullRequest } = event.issue;
  const issue = { number, state, labels, createdAt, updatedAt, isPullRequest };
  return { kind: 'issue', issue, isGone: event.isGone };
}

const changesSchema = z.array(
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('issue'),
      issue: z.object({
        number: z.int(),
        state: z.enum(['open', 'closed']),
        labels: z.array(z.string()),
        createdAt: z.number(),
        updatedAt: z.number(),
        isPullRequest: z.boolean(),
      }),
      isGone: z.boolean(),
    }),
    z.object({ kind: z.literal('everything') }),
  ]),
);

/** The text by which a store keeps changes. */
export function renderChanges(changes: readonly InstanceChange[]): string {
  return JSON.stringify(changes);
}

/** Changes from their text. What another version of the program means by it may be anything. */
export function parseChanges(text: string): readonly InstanceChange[] {
  try {
    return changesSchema.parse(JSON.parse(text));
  } catch {
    return [{ kind: 'everything' }];
  }
}

/** What one instance published at once. */
export type ChangeBatch = {
  /** 1, 2, 3, … without holes, over all instances. */
  position: number;
  /** The text of its changes (`parseChanges`); absent when this instance published it itself: it knows already. */
  text?: string;
};

/**
 * Port: the changes in the store, in one order for all instances. A batch is visible once it is
 * committed, and never later than one of a greater position. The newest 256 batches are kept, so that
 * whoever finds a hole in the positions has missed something; the newest is never deleted.
 */
export type ChangeLog = {
  /**
   * Adds a batch behind all others, as `renderChanges` writes it.
   * @throws {store-unavailable} nothing, or nobody can know, was added
   */
  append(text: string): Promise<void>;
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
