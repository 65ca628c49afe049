import { type Clock, DAY, HOUR, SECOND } from '#shared/clock.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import { type Outcome, outcomes } from './receipt.ts';

/** Events of one span of time by outcome; outcomes that none has are left out. */
type OutcomeCount = Partial<Record<Outcome, number>>;

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

/** Events of the hour that begins at `startMs` (milliseconds since the Unix epoch). */
type HourOfOutcomes = { startMs: number; counts: OutcomeCount };

export type RecentOutcomes = {
  /** The last 24 full or running hours of UTC, oldest first. */
  hours: readonly HourOfOutcomes[];
  /** Of the last 7 days: what did not end well, and nobody has acknowledged. */
  week: Pick<OutcomeCount, 'FAILED' | 'UNMATCHED' | 'REJECTED'>;
};

export type OutcomeReaderDeps = { store: OutcomeCounts; clock: Pick<Clock, 'now' | 'monotonicMs'> };

const ENDED_BADLY = ['FAILED', 'UNMATCHED', 'REJECTED'] as const;
const HOURS = 24;
const FRESH_MS = 10 * SECOND;

/**
 * What came in lately and what became of it, for operators: at most 10 seconds old, so that many who
 * look cost no more than one. @throws {store-unavailable}
 */
export function createOutcomeReader({ store, clock }: OutcomeReaderDeps) {
  let last: { at: number; value: RecentOutcomes } | undefined;
  const countOpen = async (since: number): Promise<RecentOutcomes['week']> => {
    const [all = {}] = await store.count([since], ENDED_BADLY);
    const [acknowledged = {}] = await store.count([since], ENDED_BADLY, 'acknowledged');
    const open = (one: Outcome): number => (all[one] ?? 0) - (acknowledged[one] ?? 0);
    const counts = ENDED_BADLY.map((one) => [one, open(one)] as const);
    return Object.fromEntries(counts.filter(([, events]) => events > 0));
  };
  const read = createSingleFlight(async (): Promise<RecentOutcomes> => {
    const at = clock.monotonicMs();
    const now = clock.now();
    const current = Math.floor(now / HOUR) * HOUR;
    const starts = Array.from({ length: HOURS }, (_, n) => current - (HOURS - 1 - n) * HOUR);
    const counts = await store.count(starts, outcomes);
    const week = await countOpen(now - 7 * DAY);
    const hours = starts.map((startMs, n) => ({ startMs, counts: counts[n] ?? {} }));
    last = { at, value: { hours, week } };
    return last.value;
  });
  return async (): Promise<RecentOutcomes> =>
    last && clock.monotonicMs() - last.at < FRESH_MS ? last.value : read();
}
