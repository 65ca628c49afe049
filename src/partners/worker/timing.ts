import { REPLICA_LAG_MAX_MS } from '#leads/lead-tracker.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';

/** Waits of the worker that are no setting, in ms. */
export const TIMING = {
  /** Before an event that matched nothing is tried again: replicas lag. Then it is UNMATCHED. */
  unmatchedWaitsMs: [MINUTE],
  /** From the first look at an issue that is not found to the next ones. Then, unless it is listed, it is gone. */
  missingLooksMs: [5 * SECOND, MINUTE, 10 * MINUTE],
  /** For so long a comment may be there and not be shown. */
  replicaLagMs: REPLICA_LAG_MAX_MS,
  /** Between two probes while the work is paused. */
  probeEveryMs: MINUTE,
};

export type Timing = typeof TIMING;
