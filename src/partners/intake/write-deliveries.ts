import type { Sealer } from '#shared/crypto/sealer.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Receipt, RepeatedEvent } from '../receipts/receipt.ts';
import type { Acceptance, NewEvent, NewReceipt } from './new-receipt.ts';
import {
  insertDeliveries,
  openAcceptanceClaims,
  openReusedIds,
  readNextNumbers,
  type Writing,
} from './insert-deliveries.ts';
import { claimLearnt } from '../receipts/standing-deletions.ts';
import { readRepositoryId } from '#leads/directory/directory-view.ts';
import type { Database, Statements, Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import { createBatch } from '#shared/resilience/batch.ts';
import { findSameEvents, type Repeat, type SameEvent, workRepeat } from './repeats.ts';

/**
 * Writes a delivery in one transaction and resolves once it is durable on disk. The same transaction claims every lead
 * that the directory knows by what its events name, and one that a lead id names also when it is not known: from then
 * on no reader sees it, and the worker takes back what turns out wrong. A deletion stands: what the directory learns of
 * whom it names, until the first full crawl that began later has ended, and for a day at least, is claimed and acted on
 * by the same event. Merges count from the same transaction on, for the events beside them, too. An event whose id came
 * before with another person is noted so. Events that came before are not written again; those that ended UNMATCHED or
 * FAILED, and those without an id that are settled, are queued once more; what an operator had released may then be
 * claimed again. The receipt is as it was in the first response.
 * @throws {store-unavailable} and then nothing was accepted
 */
export type Accept = (delivery: NewReceipt) => Promise<Acceptance>;

/** Takes deliveries that are in flight at the same time into one transaction. */
export function createAcceptance(
  db: Database,
  options: {
    /** Seals the bytes of events. */
    sealer: Sealer;
    /** `owner/name` in lower case: whose leads are claimed. */
    repository: string;
  },
): Accept {
  const accept = createBatch({
    callAll: (deliveries: readonly NewReceipt[]) =>
      db.exclusive((tx) => acceptAll(tx, deliveries, options)),
    sizeOf: ({ events }) => events.length,
    sizeMax: ACCEPTED_EVENTS_MAX,
    isShared: (error) => isTrackportError(error, 'store-unavailable'),
  });
  return async (delivery) => toAcceptance(delivery, await accept(delivery));
}

/** Of deliveries that share a transaction; one of more events is accepted alone. */
const ACCEPTED_EVENTS_MAX = 500;

/** The repository's name is in lower case. */
type AcceptOptions = { sealer: Sealer; repository: string };

const READ_ORIGINAL = `
  SELECT id, partner_id, event_type, external_id, correlation_id, received_at
  FROM receipt WHERE number = @receipt`;

/** A delivery, and what is known of its events. */
type Sorted = {
  delivery: NewReceipt;
  events: NewEvent[];
  repeats: Repeat[];
  left: RepeatedEvent[];
};

/**
 * A delivery that was written, without what its sender knows: all of its events are new, or those at these
 * positions; with `original`, the first receipt, every one came before.
 */
type Accepted = { queued: number; original?: Receipt; written?: number[] };

/** Writes deliveries one after the other in effect. */
async function acceptAll(
  session: Tx,
  deliveries: readonly NewReceipt[],
  options: AcceptOptions,
): Promise<Accepted[]> {
  const accepted: Accepted[] = [];
  let left = deliveries;
  while (left.length > 0) {
    const count = countBatch(left);
    const written = await writeDeliveries(session, left.slice(0, count), options);
    accepted.push(...written);
    left = left.slice(count);
  }
  return accepted;
}

/**
 * Writes deliveries that can go in one batch (`countBatch`): the events that are new under receipts of their
 * own, and those that came before as what they ask for now.
 */
async function writeDeliveries(
  session: Tx,
  deliveries: readonly NewReceipt[],
  { sealer, repository }: AcceptOptions,
): Promise<Accepted[]> {
  const events = deliveries.flatMap((delivery) => delivery.events);
  const names = events.flatMap((event) => event.names);
  await insertMerges(session, events); // before anybody is looked for
  await claimMerged(session, repository, deliveries);
  const [before, claims, isIdReused, next] = await Promise.all([
    findSameEvents(session, events),
    openAcceptanceClaims(session, repository, names),
    openReusedIds(session, events),
    readNextNumbers(session),
  ]);
  const writing: Writing = { session, next, sealer, claims, isIdReused };
  const sorted = deliveries.map((delivery) => sortOut(delivery, before));
  await insertDeliveries(
    writing,
    sorted.filter((one) => !isRepeat(one)),
  );
  const accepted: Accepted[] = [];
  for (const one of sorted) accepted.push(await acceptOne(writing, one));
  return accepted;
}

/** Deletions that stand name whoever is merged into somebody whom they name. */
async function claimMerged(
  session: Tx,
  repository: string,
  deliveries: readonly NewReceipt[],
): Promise<void> {
  const hashes = deliveries.flatMap(({ events }) => events.flatMap(({ merge }) => merge?.to ?? []));
  const now = Math.max(...deliveries.map(({ receivedAt }) => receivedAt));
  const id = hashes.length > 0 ? await readRepositoryId(session, repository) : undefined;
  if (id !== undefined) await claimLearnt(session, { id, name: repository }, { hashes }, now);
}

/** An event that stands twice in one delivery is taken once. */
function sortOut(delivery: NewReceipt, before: ReadonlyMap<NewEvent, SameEvent>): Sorted {
  const seen = new Set<string>();
  const sorted: Sorted = { delivery, events: [], repeats: [], left: [] };
  for (const event of delivery.events) {
    const key = keyOf(event);
    const same = before.get(event);
    const isTwice = seen.has(key);
    seen.add(key);
    const { position } = event;
    if (same ?? isTwice) sorted.left.push({ position, receiptId: same?.receiptId ?? delivery.id });
    if (isTwice) continue;
    if (same) sorted.repeats.push({ event, before: same });
    else sorted.events.push(event);
  }
  return sorted;
}

/** Every event came before. */
function isRepeat({ events, repeats }: Sorted): boolean {
  return events.length === 0 && repeats.length > 0;
}

async function acceptOne(writing: Writing, sorted: Sorted): Promise<Accepted> {
  const { delivery, events, repeats } = sorted;
  let queued = events.filter(({ outcome }) => outcome === 'PENDING').length;
  for (const repeat of repeats) if (await workRepeat(writing, repeat, delivery)) queued += 1;
  const [first] = repeats;
  if (first && isRepeat(sorted))
    return { queued, original: await readOriginal(writing.session, first.before.receipt) };
  const isWhole = events.length === delivery.events.length;
  return { queued, ...(!isWhole && { written: events.map(({ position }) => position) }) };
}

/** The receipt as it was first answered, whatever has become of it since. */
async function readOriginal(session: Statements, receipt: number): Promise<Receipt> {
  const row = await session.get<Receipt>(READ_ORIGINAL, { receipt });
  if (!row) throw new Error('an event has no receipt');
  return { ...row, status: 'ACCEPTED' };
}

function toAcceptance(
  {
    path: _path,
    events,
    traceparent: _traceparent,
    createdBefore: _createdBefore,
    ...receipt
  }: NewReceipt,
  { queued, original, written }: Accepted,
): Acceptance {
  if (original) return { kind: 'repeat', receipt: original, queued, written: [] };
  return {
    kind: 'accepted',
    receipt: { ...receipt, status: 'ACCEPTED' },
    queued,
    written: written ? events.filter(({ position }) => written.includes(position)) : events,
  };
}

/**
 * Number of deliveries that can be written in one batch: none may say of an event what one before it says, for
 * each is decided by what the store knew before.
 */
function countBatch(deliveries: readonly NewReceipt[]): number {
  const seen = new Set<string>();
  const count = deliveries.findIndex(({ events }) => {
    const own = new Set(events.map(keyOf));
    const isKnown = [...own].some((key) => seen.has(key));
    for (const key of own) seen.add(key);
    return isKnown;
  });
  return count === -1 ? deliveries.length : count;
}

function keyOf({ sameEventKey }: NewEvent): string {
  return sameEventKey.toString('latin1');
}

/** The last merges of people that are kept, for as long as the directory's hashes are good. */
const MERGES_MAX = 1_000_000;

/** Only new ones: each row uses a number up, and by numbers the oldest are forgotten. */
const INSERT_MERGES = `
  INSERT INTO directory_merge (from_hash, to_hash)
  SELECT DISTINCT given.from_hash, given.to_hash
  FROM jsonb_to_recordset(@pairs) AS given (from_hash bytea, to_hash bytea)
  WHERE NOT EXISTS (SELECT 1 FROM directory_merge AS known
    WHERE known.to_hash = given.to_hash AND known.from_hash = given.from_hash)`;

const FORGET_OLDEST_MERGES = `
  DELETE FROM directory_merge WHERE id <= (SELECT max(id) FROM directory_merge) - ${MERGES_MAX}`;

/** Keeps what events say of merged people. */
async function insertMerges(session: Tx, events: readonly NewEvent[]): Promise<void> {
  const pairs = events.flatMap(({ merge }) =>
    merge ? merge.from.map((fromHash) => ({ fromHash, toHash: merge.to })) : [],
  );
  if (pairs.length === 0) return;
  await session.run(INSERT_MERGES, { pairs: toRecords(pairs) });
  await session.run(FORGET_OLDEST_MERGES);
}
