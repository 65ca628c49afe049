import type { Outcome } from '../receipt.ts';

/** Events of one span of time by outcome; outcomes that none has are left out. */
export type OutcomeCount = Partial<Record<Outcome, number>>;

/** A count goes no further: what a person reads is no different, and no store is held up. */
export const OUTCOME_COUNT_MAX = 100_000;

/** Port: how many events were received when, by what became of them. */
export type OutcomeCounts = {
  /**
   * Of the events received from each start (milliseconds since the Unix epoch, ascending) to the next,
   * the last span to now, those of each of the outcomes, up to `OUTCOME_COUNT_MAX`. Where the clock was
   * set back meanwhile, an event may count in the span beside its own. `acknowledged`: of those only.
   * @throws {store-unavailable}
   */
  count(
    starts: readonly number[],
    outcomes: readonly Outcome[],
    which?: 'acknowledged',
  ): Promise<OutcomeCount[]>;
};
