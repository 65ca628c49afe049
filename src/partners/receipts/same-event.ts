/**
 * How an event is known again, and what becomes of it then. Apart from `event.ts`: the writing thread reads
 * no events, and loads nothing for that.
 */
import type { Outcome } from './receipt.ts';

/** Keyed hashes by which an event is known again. */
export type EventKeys = {
  /** Of all that makes two events the same. */
  sameEventKey: Buffer;
  /** There when the event has an id of its own. */
  idKeys?: EventIdKeys;
};

/** By these it is noticed that an event id comes again with another person. */
export type EventIdKeys = {
  /** Of the id and where it counts: partner, path, account and type. */
  id: Buffer;
  /** Of all that names the person. */
  person: Buffer;
};

/** What a store has an event by, in this order: events of one id stand side by side. */
export type StoredKeys = [idKey: Buffer, personKey: Buffer, key: Buffer];

const NOBODY = Buffer.alloc(0);

/** Where an event has no id, its own key stands for it. */
export function toStoredKeys({ sameEventKey, idKeys }: EventKeys): StoredKeys {
  return [idKeys?.id ?? sameEventKey, idKeys?.person ?? NOBODY, sameEventKey];
}

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
  event: Pick<EventKeys, 'idKeys'> & { outcome: Outcome },
  before: Outcome,
): RepeatEffect {
  const isRedelivery = event.idKeys !== undefined && (before === 'PENDING' || before === 'DONE');
  if (event.outcome !== 'PENDING' || isRedelivery) return 'nothing';
  return before === 'PENDING' ? 'again' : 'queue';
}
