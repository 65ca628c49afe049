/** Writes deliveries: all that an accepted one changes in the store, in one transaction. */
import { setImmediate } from 'node:timers/promises';
import { readRepositoryId, type StoredRepositoryName } from '#leads/lead-store.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Database, Tx } from '#shared/database.ts';
import { isTrackportError } from '#shared/errors.ts';
import { toRecords, toJson } from '#shared/sql.ts';
import { type Receipt, type EventStep, isDeletion, payloadIdentity } from '../receipts/receipt.ts';
import { claimLearnt } from '../receipts/standing-deletions.ts';
import {
  findKnown,
  insertReceipts,
  readNextNumbers,
  type SameEvent,
  type SplitReceipt,
  type Writing,
  claimNamed,
  leadsNamed,
  type Repeat,
  timesOf,
} from './insert-receipts.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import {
  REPOSITORY_NOT_KNOWN,
  claimedBy,
  forgetDeletionNames,
  putDeletionNames,
  toLeadIds,
} from '#leads/claims/claim-leads.ts';
import type { Acceptance, NewEvent, NewReceipt, WriteReceipt } from './accept-delivery.ts';
import { effectOfRepeat, type RepeatEffect } from '../event.ts';
import {
  AS_NEW,
  LASTING_NOTE,
  REFRESH_RECEIPT_STATUS,
  REQUEUE_REPEATED,
  SET_LEADS,
} from '../receipts/event-changes.ts';

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
  const writing: Writing = { tx, next, sealer, directory, repositoryId, isIdReused };
  const split = receipts.map((receipt) => splitReceipt(receipt, before));
  await insertReceipts(
    writing,
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

/** An event that stands twice in one delivery is taken once. */
function splitReceipt(receipt: NewReceipt, before: ReadonlyMap<NewEvent, SameEvent>): SplitReceipt {
  const seen = new Set<string>();
  const split: SplitReceipt = { receipt, written: [], repeats: [], known: [] };
  for (const event of receipt.events) {
    const key = keyOf(event);
    const same = before.get(event);
    const isTwice = seen.has(key);
    seen.add(key);
    const { position } = event;
    if (same ?? isTwice) split.known.push({ position, receiptId: same?.receiptId ?? receipt.id });
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

/** A release counts against the deliveries that came before it: the partner asks anew with this one. */
const FORGET_RELEASES = 'DELETE FROM claim WHERE event = @event AND released_at IS NOT NULL';

const REFRESH_NOTE = `
  UPDATE event SET note = ${LASTING_NOTE} WHERE id = @event AND note IS NOT NULL`;

/** Returns whether the event waits for the worker because of this repeat. */
async function workRepeat(writing: Writing, repeat: Repeat, receipt: NewReceipt): Promise<boolean> {
  const { tx, directory, repositoryId } = writing;
  const { event, before } = repeat;
  const { receivedAt: now } = receipt;
  const times = timesOf(event, receipt, before);
  const effect = effectOfRepeat(event, before.outcome);
  if (effect === 'nothing') return false;
  const owner = { event: before.event };
  if ((await tx.run(FORGET_RELEASES, owner)) > 0) await tx.run(REFRESH_NOTE, owner);
  const isQueued = await queueRepeat(writing, repeat, { effect, now, ...times });
  let leads = leadsNamed(directory, event, times);
  if (isDeletion(receipt)) {
    await forgetDeletionNames(tx, before.event);
    const deletion = { ...before, names: event.names, leads, at: now };
    await claimNamed(tx, repositoryId, [deletion]);
    putDeletionNames(tx, { repositoryId, deletions: [deletion] });
    leads = await claimedBy(tx, { repositoryId, ...owner }); // an operator may have given some of them back
  }
  await tx.run(SET_LEADS, { ...owner, leadIds: toLeadIds(leads) });
  return isQueued;
}

/** A repeat counts from its own call; one that was brought in by hand takes nothing back. */
const ASKED_ANEW = `
  created_before = greatest(coalesce(created_before, 0), @createdBefore), actions = @actions`;

const REQUEUE_SETTLED = `
  UPDATE event SET ${AS_NEW}, progress = NULL, payload = @payload, ${ASKED_ANEW}
  WHERE id = @event`;

/** True when a worker has looked at it: then a repeat makes new work, else it waits in the queue already. */
const IS_BEGUN = `
  SELECT lease_token IS NOT NULL OR progress IS NOT NULL AS is_begun
  FROM event WHERE id = @event`;

/** An event that a late lead has opened again has no payload any more: this one is as good. */
const MARK_AGAIN = `
  UPDATE event SET again = @now, payload = coalesce(payload, @payload), ${ASKED_ANEW} WHERE id = @event`;

async function queueRepeat(
  { tx, sealer }: Writing,
  { event, before }: Repeat,
  {
    effect,
    ...call
  }: { effect: Exclude<RepeatEffect, 'nothing'>; now: number; createdBefore: number },
): Promise<boolean> {
  const owner = { event: before.event };
  const identity = payloadIdentity(before.receiptId, before.position);
  const step = JSON.stringify({ at: call.now, what: 'repeated' } satisfies EventStep);
  const payload = sealer.seal(identity, event.payload);
  const values = { ...owner, ...call, step, payload, actions: toJson(event.actions) };
  if (effect === 'queue') {
    await tx.run(REQUEUE_SETTLED, values);
    await tx.run(REFRESH_RECEIPT_STATUS, { receipts: [before.receipt] });
    return true;
  }
  const row = await tx.get<{ isBegun: boolean }>(IS_BEGUN, owner);
  await tx.run(MARK_AGAIN, values);
  const isStarted = (await tx.run(REQUEUE_REPEATED, { ...owner, leaseToken: undefined })) > 0;
  return isStarted && row?.isBegun === true;
}

const READ_ORIGINAL = `
  SELECT id, partner_id, event_type, external_id, correlation_id, received_at
  FROM receipt WHERE number = @receipt`;

/** The receipt as it was first answered, whatever has become of it since. */
async function readOriginal(tx: Tx, receipt: number): Promise<Receipt> {
  const row = await tx.get<Receipt>(READ_ORIGINAL, { receipt });
  if (!row) throw new Error('an event has no receipt');
  return { ...row, status: 'ACCEPTED' };
}
