import type { NewEvent } from './receipt-store.ts';
import type { Outcome } from './receipt.ts';

/**
 * What a repeat sets going: `nothing` for a redelivery; `queue` works the event as if it had just come,
 * `again` has one that still waits, or is worked on, looked at anew.
 */
export type RepeatEffect = 'nothing' | 'queue' | 'again';

/**
 * An event without an id may be a new request with the same bytes, also while the first one waits; one
 * that ended without effect gets another chance; all else is a redelivery. `before`: what became of it
 * so far.
 */
export function effectOfRepeat(
  event: Pick<NewEvent, 'outcome' | 'idKeys'>,
  before: Outcome,
): RepeatEffect {
  const isRedelivery = event.idKeys !== undefined && (before === 'PENDING' || before === 'DONE');
  if (event.outcome !== 'PENDING' || isRedelivery) return 'nothing';
  return before === 'PENDING' ? 'again' : 'queue';
}
