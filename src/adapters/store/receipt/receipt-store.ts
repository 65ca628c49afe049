import { createSealer, type Sealer } from '#shared/crypto/sealer.ts';
import type { Receipt, RepeatedEvent } from '#partners/receipts/receipt.ts';
import type {
  Acceptance,
  NewEvent,
  NewReceipt,
  ReceiptStore,
} from '#partners/receipts/receipt-store.ts';
import { insertDeliveries, openAcceptanceClaims, openReusedIds, type Writing } from './insert.ts';
import { claimLearnt } from '../claim/standing-deletions.ts';
import { insertMerges, readRepositoryId } from '../directory/view.ts';
import { batched, bindWrites, type Session, type StoreDatabase } from '../session.ts';
import type { WriteCheck } from '../write-check.ts';
import { createReceiptReader } from './read-receipts.ts';
import { previewReplay, replayWrites } from './replay.ts';
import { findSameEvents, type Repeat, type SameEvent, workRepeat } from './repeat.ts';

export type ReceiptStoreOptions = {
  /** The 32 bytes under which the bytes of events are encrypted. */
  payloadKey: Buffer;
  /** `owner/name`, in any case: whose leads are claimed. */
  repository: string;
  /** Told of every acceptance: whether deliveries can be stored. Default: nobody asks. */
  watch?: WriteCheck['watch'];
};

/** Receipts, whatever the engine. Deliveries in flight at the same time share one commit. */
export function createReceiptStore(
  database: StoreDatabase,
  { payloadKey, repository, watch = (write) => write }: ReceiptStoreOptions,
): ReceiptStore {
  const { accept, forgetKeys, dropPayloads, ...writes } = bindWrites(
    database.writer.callExclusive,
    'receipt',
    receiptWrites,
  );
  const options = { payloadKey, repository: repository.toLowerCase() };
  return {
    accept: async (delivery) => toAcceptance(delivery, await watch(accept(delivery, options))),
    ...writes,
    purge: async (before) => ({
      keys: await untilNothing(() => forgetKeys(before)),
      payloads: await untilNothing(() => dropPayloads(before)),
    }),
    ...createReceiptReader(database),
    previewReplay: (filter) => previewReplay(database, filter),
  };
}

/** Repeats `work` until it changes nothing more; returns how much it changed in all. */
async function untilNothing(work: () => Promise<number>): Promise<number> {
  for (let sum = 0; ;) {
    const changes = await work();
    if (changes === 0) return sum;
    sum += changes;
  }
}

/** What takes deliveries, and works them again. */
export const receiptWrites = { accept: batched(acceptAll), ...replayWrites };

/** The repository's name is in lower case. */
type AcceptOptions = Omit<ReceiptStoreOptions, 'watch'>;

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

type AcceptInput = readonly [delivery: NewReceipt, options: AcceptOptions];

/**
 * What became of a delivery, without what whoever sent it knows: all of its events were written, or those at
 * these positions; with `original`, the first receipt, every one came before.
 */
type Accepted = { queued: number; original?: Receipt; written?: number[] };

/** Making one costs more than a delivery, and a process has one key. */
function createSealerMemo(): (key: Buffer) => Sealer {
  let last: { key: Buffer; sealer: Sealer } | undefined;
  return (key) => {
    if (last?.key.equals(key) !== true) last = { key, sealer: createSealer(key) };
    return last.sealer;
  };
}

const sealerOf = createSealerMemo();

/** Writes deliveries, all with the same options, one after the other in effect. */
async function acceptAll(session: Session, inputs: readonly AcceptInput[]): Promise<Accepted[]> {
  const options = inputs[0]?.[1];
  if (!options) return [];
  const { repository } = options;
  const sealer = sealerOf(options.payloadKey);
  const accepted: Accepted[] = [];
  let left = inputs.map(([delivery]) => delivery);
  while (left.length > 0) {
    const count = countBatch(left);
    const written = await writeDeliveries(session, left.slice(0, count), { sealer, repository });
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
  session: Session,
  deliveries: readonly NewReceipt[],
  { sealer, repository }: { sealer: Sealer; repository: string },
): Promise<Accepted[]> {
  const events = deliveries.flatMap((delivery) => delivery.events);
  const names = events.flatMap((event) => event.names);
  await insertMerges(session, events); // before anybody is looked for
  await claimMerged(session, repository, deliveries);
  const [before, claims, isIdReused] = await Promise.all([
    findSameEvents(session, events),
    openAcceptanceClaims(session, repository, names),
    openReusedIds(session, events),
  ]);
  const writing: Writing = { session, sealer, claims, isIdReused };
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
  session: Session,
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
async function readOriginal(session: Session, receipt: number): Promise<Receipt> {
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
 * How many deliveries can be written in one batch: none may say of an event what one before it says, for
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
