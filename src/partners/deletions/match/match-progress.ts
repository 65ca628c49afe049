import { MINUTE } from '#shared/clock.ts';
import type { WorkItem } from '../../worker/work-store.ts';
import type { MatchProgress } from '../deletion-progress.ts';

/** A claim is due within a second: no event waits longer for the directory, or for the tracker. */
export const MATCH_WAIT_MS = 400;

/** How far the tracker's clock may be ahead of ours. A lead that is no older is taken as older. */
export const CLOCK_TOLERANCE_MS = MINUTE;

/**
 * What is known of the event's match. A clock that was set back leaves instants in the future, which
 * no catch-up would ever reach.
 */
export function progressOf({ dueAt, progress }: WorkItem, now: number): MatchProgress {
  if (progress?.stage === 'match') {
    const { askedAt, missedSince, requestedAt } = progress;
    return {
      ...progress,
      askedAt: Math.min(now, askedAt),
      ...(requestedAt !== undefined && { requestedAt: Math.min(now, requestedAt) }),
      ...(missedSince !== undefined && { missedSince: Math.min(now, missedSince) }),
    };
  }
  const askedAt = Math.min(now, dueAt);
  return { stage: 'match', askedAt, requestedAt: askedAt, misses: 0 };
}

/**
 * The latest instant at which a lead was created that the event can mean by its number, in ms. Within
 * the tolerance every lead is old enough, whatever the clocks say.
 */
export function createdBeforeOf(progress: MatchProgress, now: number): number {
  const { requestedAt = progress.missedSince ?? progress.askedAt } = progress;
  const latest = requestedAt + CLOCK_TOLERANCE_MS;
  return now <= latest ? Infinity : latest;
}
