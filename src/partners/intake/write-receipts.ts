/** Writes deliveries: all that an accepted one changes in the store, in one transaction. */
import { setImmediate } from 'node:timers/promises';
import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-leads.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import { readRepositoryId, type StoredRepositoryName } from '#leads/lead-store.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Database, Tx } from '#shared/database.ts';
import { isTrackportError } from '#shared/errors.ts';
import { toRecords } from '#shared/sql.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { claimLearnt } from '../receipts/standing-deletions.ts';
import type { Acceptance, NewEvent, NewReceipt, WriteReceipt } from './accept-delivery.ts';
import type { Writing } from './claim-named.ts';
import { insertReceipts, readNextNumbers, type ReceiptToInsert } from './insert-receipts.ts';
import { findKnown, readOriginal, type Repeat, type SameEvent, workRepeat } from './repeats.ts';

type WriteOptions = {
  /** Seals the bytes of events. */
  sealer: Sealer;
  /** Its leads are claimed. */
  repository: StoredRepositoryName;
};

/** Of receipts that share a transaction; one of more events is written alone. */
const EVENTS_MAX = 500;

/**
 * Writes deliveries: those that come in the same turn of the event loop, or while a commit is under way, in one
 * transaction. In it their merges are learnt first; every lead that their deletions name is claimed, so that no reader
 * sees it from then on, and the deletions stand for who is learnt later (`claimLearnt`); what came before is not written
 * again, but worked once more where that helps (`workRepeat`). An event whose id came before with another person is noted
 * so. The receipt of a repeat is as it was in the first response.
 * @throws {store-unavailable} and then nothing was accepted
 */
export function createReceiptWriter(db: Database, options: WriteOptions): WriteReceipt {
  type Waiting = PromiseWithResolvers<Acceptance> & { receipt: NewReceipt };
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  const write = async (batch: readonly Waiting[]): Promise<void> => {
    const receipts = batch.map(({ receipt }) => receipt);
    try {
      const acceptances = await db.exclusive((tx) => writeInOrder(tx, receipts, options));
      for (const [at, { resolve }] of batch.entries()) resolve(acceptances[at] as Acceptance);
    } catch (error) {
      // A store that fails does so for all; any other error may be the fault of one of them.
      const isShared = batch.length === 1 || isTrackportError(error, 'store-unavailable');
      if (isShared) for (const { reject } of batch) reject(error);
      else for (const one of batch) await write([one]);
    }
  };
  const writeWaiting = async (): Promise<void> => {
    for (await setImmediate(); waiting.length > 0;) {
      let events = 0;
      const isOver = ({ receipt }: Waiting) => (events += receipt.events.length) > EVENTS_MAX;
      const fitting = waiting.findIndex(isOver);
      const count = fitting === -1 ? waiting.length : Math.max(1, fitting);
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      await write(batch);
    }
    running = undefined;
  };
  return (receipt) => {
    const one = { ...Promise.withResolvers<Acceptance>(), receipt };
    waiting.push(one);
    running ??= writeWaiting();
    return one.promise;
  };
}

/** Writes receipts one after the other in effect. */
async function writeInOrder(
  tx: Tx,
  receipts: readonly NewReceipt[],
  options: WriteOptions,
): Promise<Acceptance[]> {
  const acceptances: Acceptance[] = [];
  let rest = receipts;
  while (rest.length > 0) {
    const count = countBatch(rest);
    acceptances.push(...(await writeTogether(tx, rest.slice(0, count), options)));
    rest = rest.slice(count);
  }
  return acceptances;
}

/**
 * Number of receipts that can be written in one batch: none may say of an event what one before it says, for
 * each is decided by what the store knew before.
 */
function countBatch(receipts: readonly NewReceipt[]): number {
  const seen = new Set<string>();
  const count = receipts.findIndex(({ events }) => {
    const own = new Set(events.map(keyOf));
    const isKnown = [...own].some((key) => seen.has(key));
    for (const key of own) seen.add(key);
    return isKnown;
  });
  return count === -1 ? receipts.length : count;
}

function keyOf({ sameEventKey }: NewEvent): string {
  return sameEventKey.toString('latin1');
}

/**
 * Writes receipts that can go in one batch (`countBatch`): the events that are new under receipts of their
 * own, and those that came before as what they ask for now.
 */
async function writeTogether(
  tx: Tx,
  receipts: readonly NewReceipt[],
  { sealer, repository }: WriteOptions,
): Promise<Acceptance[]> {
  const events = receipts.flatMap((receipt) => receipt.events);
  const names = events.flatMap((event) => event.names);
  await insertMerges(tx, events); // before anybody is looked for
  await claimMerged(tx, repository, receipts);
  const [{ before, isIdReused }, directory, repositoryId = REPOSITORY_NOT_KNOWN, next] =
    await Promise.all([
      findKnown(tx, events),
      readDirectoryView(tx, repository, names),
      readRepositoryId(tx, repository),
      readNextNumbers(tx),
    ]);
  const writing: Writing = { tx, sealer, directory, repositoryId };
  const split = receipts.map((receipt) => splitReceipt(receipt, before));
  await insertReceipts(
    { ...writing, next, isIdReused },
    split.filter((one) => !isRepeat(one)),
  );
  const acceptances: Acceptance[] = [];
  for (const one of split) acceptances.push(await acceptReceipt(writing, one));
  return acceptances;
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
async function insertMerges(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const pairs = events.flatMap(({ merge }) =>
    merge ? merge.from.map((fromHash) => ({ fromHash, toHash: merge.to })) : [],
  );
  if (pairs.length === 0) return;
  await tx.run(INSERT_MERGES, { pairs: toRecords(pairs) });
  await tx.run(FORGET_OLDEST_MERGES);
}

/** Deletions that stand name whoever is merged into somebody whom they name. */
async function claimMerged(
  tx: Tx,
  repository: StoredRepositoryName,
  receipts: readonly NewReceipt[],
): Promise<void> {
  const hashes = receipts.flatMap(({ events }) => events.flatMap(({ merge }) => merge?.to ?? []));
  const now = Math.max(...receipts.map(({ receivedAt }) => receivedAt));
  const id = hashes.length > 0 ? await readRepositoryId(tx, repository) : undefined;
  if (id !== undefined) await claimLearnt(tx, { id, name: repository }, { hashes }, now);
}

/** A receipt, its events split by what the store knows of them. */
type SplitReceipt = ReceiptToInsert & { repeats: Repeat[] };

/** An event that stands twice in one delivery is taken once. */
function splitReceipt(receipt: NewReceipt, before: ReadonlyMap<NewEvent, SameEvent>): SplitReceipt {
  const seen = new Set<string>();
  const split: SplitReceipt = { receipt, written: [], repeats: [], notNew: [] };
  for (const event of receipt.events) {
    const key = keyOf(event);
    const same = before.get(event);
    const isTwice = seen.has(key);
    seen.add(key);
    const { position } = event;
    if (same ?? isTwice) split.notNew.push({ position, receiptId: same?.receiptId ?? receipt.id });
    if (isTwice) continue;
    if (same) split.repeats.push({ event, before: same });
    else split.written.push(event);
  }
  return split;
}

/** Every event came before. */
function isRepeat({ written, repeats }: SplitReceipt): boolean {
  return written.length === 0 && repeats.length > 0;
}

/** Has what came before do what it asks for now. The receipt of a delivery that came before is the first one. */
async function acceptReceipt(writing: Writing, split: SplitReceipt): Promise<Acceptance> {
  const { receipt, written, repeats } = split;
  let queued = written.filter(({ outcome }) => outcome === 'PENDING').length;
  for (const repeat of repeats) if (await workRepeat(writing, repeat, receipt)) queued += 1;
  const [first] = repeats;
  if (first && isRepeat(split)) {
    const original = await readOriginal(writing.tx, first.before.receipt);
    return { kind: 'repeat', receipt: original, queued, written: [] };
  }
  const { path: _, events: _all, traceparent: _span, createdBefore: _until, ...own } = receipt;
  const accepted: Receipt = { ...own, status: 'ACCEPTED' };
  return { kind: 'accepted', receipt: accepted, queued, written };
}
