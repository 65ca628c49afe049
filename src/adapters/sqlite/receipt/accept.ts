import type { Database as Handle } from 'better-sqlite3';
import { toStoredKeys } from '#partners/receipts/same-event.ts';
import type { StoredKeys } from '#partners/receipts/same-event.ts';
import type { PayloadSealer } from '#partners/receipts/payload.ts';
import type { Receipt } from '#partners/receipts/receipt.ts';
import type { NewEvent, NewReceipt } from '#partners/receipts/receipt-store.ts';
import { createAcceptanceClaims } from '../claims/claim-on-acceptance.ts';
import type { Connection } from '../connection/connection.ts';
import { MERGES_MAX } from '#partners/receipts/kept.ts';
import { createInserter } from './insert.ts';
import type { FreshDelivery } from './insert.ts';
import { asAccepted } from './packed-delivery.ts';
import type { PackedAcceptance } from './packed-delivery.ts';
import { createRepeatWorker } from './repeat.ts';
import type { Repeat, SameEvent } from './repeat.ts';

/** Apart from `READ_SAME_EVENT`: most events are new, and a join that finds nothing is not cheap. */
const FIND_SAME_EVENT =
  'SELECT event FROM same_event WHERE idKey = ? AND personKey = ? AND key = ?';

const READ_SAME_EVENT = `
  SELECT event.id AS event, event.receipt, event.position, event.outcome, receipt.id AS receiptId,
    event.leaseToken IS NOT NULL OR event.progress IS NOT NULL AS isBegun
  FROM event JOIN receipt ON receipt.number = event.receipt
  WHERE event.id = ?`;

const READ_ORIGINAL = `
  SELECT id, partnerId, eventType, externalId, correlationId, receivedAt
  FROM receipt WHERE number = ?`;

export type DeliveryWriterDeps = {
  connection: Connection;
  sealer: PayloadSealer;
  /** `owner/name`, in any case. */
  repository: string;
};

type OriginalRow = Omit<Receipt, 'status' | 'externalId'> & { externalId: string | null };

/** Writes deliveries, and says of each what became of it. */
export type DeliveryWriter = (deliveries: readonly NewReceipt[]) => PackedAcceptance[];

/**
 * Writes deliveries inside the caller's transaction, one after the other in effect: the events that are
 * new under a receipt of their own, and those that came before as what they request now. What is new in
 * several of them is inserted at once.
 */
export function createDeliveryWriter(deps: DeliveryWriterDeps): DeliveryWriter {
  const { connection, sealer, repository } = deps;
  const { handle } = connection;
  const find = createFinder(handle);
  const claims = createAcceptanceClaims(connection, repository);
  const insert = createInserter({ handle, sealer, claims });
  const workRepeat = createRepeatWorker({ handle, sealer, claims });
  const writeMerges = createMergeWriter(handle);
  const readOriginal = handle.prepare<[number], OriginalRow>(READ_ORIGINAL);

  const writeRepeats = (
    { receivedAt }: NewReceipt,
    { fresh, repeats }: Sorted,
  ): PackedAcceptance => {
    const queued = repeats.filter((repeat) => workRepeat(repeat, receivedAt)).length;
    const first = fresh.length === 0 && repeats[0];
    const original = first ? readOriginal.get(first.before.receipt) : undefined;
    return { queued, ...(original && { original: asAccepted(original) }) };
  };
  return (deliveries) => {
    writeMerges(deliveries.flatMap(({ events }) => events)); // before anybody is looked for
    const waiting = createWaiting(insert);
    const acceptances = deliveries.map((delivery): PackedAcceptance => {
      if (waiting.has(delivery.events)) waiting.flush();
      const sorted = sortOut(delivery, find);
      if (sorted.repeats.length > 0) waiting.flush();
      const before = writeRepeats(delivery, sorted);
      if (before.original) return before;
      const { fresh: events } = sorted;
      waiting.add({ delivery, events });
      const pending = events.filter(({ outcome }) => outcome === 'PENDING').length;
      const isWhole = events.length === delivery.events.length;
      return {
        queued: before.queued + pending,
        ...(!isWhole && { written: events.map(({ position }) => position) }),
      };
    });
    waiting.flush();
    return acceptances;
  };
}

/** Deliveries that are yet to be inserted: none of them says of an event what another one says. */
function createWaiting(insert: (fresh: readonly FreshDelivery[]) => void) {
  const keys = new Set<string>();
  let fresh: FreshDelivery[] = [];
  return {
    has: (events: readonly NewEvent[]): boolean => events.some((event) => keys.has(keyOf(event))),
    add: (one: FreshDelivery): void => {
      fresh.push(one);
      for (const event of one.events) keys.add(keyOf(event));
    },
    flush: (): void => {
      insert(fresh);
      fresh = [];
      keys.clear();
    },
  };
}

function keyOf({ sameEventKey }: NewEvent): string {
  return sameEventKey.toString('latin1');
}

type Find = (event: NewEvent) => SameEvent | undefined;

function createFinder(handle: Handle): Find {
  const find = handle.prepare<StoredKeys, number>(FIND_SAME_EVENT).pluck();
  const read = handle.prepare<[number], SameEvent>(READ_SAME_EVENT);
  return (event) => {
    const id = find.get(...toStoredKeys(event));
    return id === undefined ? undefined : read.get(id);
  };
}

type Sorted = { fresh: NewEvent[]; repeats: Repeat[] };

/** An event that stands twice in one delivery is taken once. */
function sortOut({ events }: NewReceipt, find: Find): Sorted {
  const seen = new Set<string>();
  const fresh: NewEvent[] = [];
  const repeats: Repeat[] = [];
  for (const event of events) {
    const key = keyOf(event);
    if (seen.has(key)) continue;
    seen.add(key);
    const before = find(event);
    if (before) repeats.push({ event, before });
    else fresh.push(event);
  }
  return { fresh, repeats };
}

const INSERT_MERGE = 'INSERT OR IGNORE INTO directory_merge (fromHash, toHash) VALUES (?, ?)';

const FORGET_OLDEST_MERGES = `
  DELETE FROM directory_merge WHERE id <= (SELECT max(id) FROM directory_merge) - ${MERGES_MAX}`;

/** Keeps what events say of merged people, inside the caller's transaction. */
function createMergeWriter(handle: Handle): (events: readonly NewEvent[]) => void {
  const insert = handle.prepare<[Buffer, Buffer]>(INSERT_MERGE);
  const forgetOldest = handle.prepare<[]>(FORGET_OLDEST_MERGES);
  return (events) => {
    const merges = events.flatMap(({ merge }) => merge ?? []);
    for (const { from, to } of merges) for (const hash of from) insert.run(hash, to);
    if (merges.length > 0) forgetOldest.run();
  };
}
