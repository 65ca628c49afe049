import { z } from 'zod';

import type { ListedIssue, TrackerEvent } from '../lead-tracker.ts';

/** A message of one instance to the others: some of the tracker's responses may be out of date. */
export type InstanceChange =
  /** The issue is now as `issue` says; `isGone`: deleted, or in another repository. */
  | { kind: 'issue'; issue: ListedIssue; isGone: boolean }
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

/** Changes from their text. A text that is of another version of the program may mean anything. */
export function parseChanges(text: string): readonly InstanceChange[] {
  try {
    return changesSchema.parse(JSON.parse(text));
  } catch {
    return [{ kind: 'everything' }];
  }
}
