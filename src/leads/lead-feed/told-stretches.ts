/**
 * Stretches of the lead feed that each consumer was told without a gap: by these a certificate says who of those that
 * could read leads has been told that they were taken away.
 */
import type { Clock } from '#shared/clock.ts';
import type { Database, Tx } from '#shared/database.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import { either } from '#shared/sql.ts';
import { foldLabels } from '#shared/text/labels.ts';
import { type LeadStore, NAMED, readRepositoryId } from '../lead-store.ts';
import type { Visibility } from '../model/lead-query.ts';
import { type FeedPosition, grantOf } from './feed-cursors.ts';
import { FEED_READABLE_MS, type LeadChange, readableSpan } from './lead-change.ts';
import { readChangesOf } from './stored-changes.ts';

/** From behind one position up to another everything was told; 0: from a copy of everything on. */
type Stretch = { behind: number; upTo: number; at: number };

type Reader = { consumerId: string; granted: string };
type Noted = Reader & { stretches: readonly Stretch[] };

export type ToldStretches = {
  /** A reader that went on from `from` was given all up to `next`; without `from` it has a cursor for there. */
  note(visibility: Visibility, next: FeedPosition, from?: FeedPosition): void;
  /** Writes all that was noted before. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** A consumer may follow the feed with several cursors. */
const STRETCHES_MAX = 8;
const CONSUMERS_MAX = 10_000;

/** Loses in a crash some reads that were made, and never claims one that was not. */
export function createToldStretches(store: LeadStore, clock: Clock, log: Log): ToldStretches {
  const late = createLateWrites<string, Noted>({
    write: (noted) => writeAll(store, [...noted.values()]),
    merge: (older, newer) => ({ ...older, stretches: join(older.stretches, newer.stretches) }),
    keysMax: CONSUMERS_MAX,
    clock,
    log,
    failure: 'could not write how far consumers have read the lead feed',
  });
  return {
    note: ({ consumerId, labels }, next, from = next) => {
      const granted = grantOf(labels);
      const stretch = { ...stretchOf(from, next), at: clock.now() };
      late.record(`${consumerId} ${granted}`, { consumerId, granted, stretches: [stretch] });
    },
    flush: () => late.flush(),
    close: () => late.close(),
  };
}

/** Whoever walks through the lead list has all of it at its end, and nothing before. */
function stretchOf(from: FeedPosition, next: FeedPosition): Omit<Stretch, 'at'> {
  const upTo = wholeUpTo(next);
  if (next.walk !== undefined) return { behind: upTo, upTo };
  return { behind: from.walk === undefined ? Math.min(wholeUpTo(from), upTo) : 0, upTo };
}

/** Several leads can have changed at one position. */
function wholeUpTo({ place: [position, number] }: FeedPosition): number {
  return number === Number.MAX_SAFE_INTEGER ? position : position - 1;
}

/** Those that touch are one; of too many the first go. */
function join(older: readonly Stretch[], newer: readonly Stretch[]): Stretch[] {
  let joined = [...older];
  for (const one of newer) {
    const isTouching = ({ behind, upTo }: Stretch) => behind <= one.upTo && one.behind <= upTo;
    const all = [...joined.filter(isTouching), one];
    const behind = Math.min(...all.map((stretch) => stretch.behind));
    const upTo = Math.max(...all.map((stretch) => stretch.upTo));
    joined = [...joined.filter((stretch) => !isTouching(stretch)), { behind, upTo, at: one.at }];
  }
  return joined.slice(-STRETCHES_MAX);
}

async function writeAll({ db, repository }: LeadStore, noted: readonly Noted[]): Promise<void> {
  await db.exclusive(async (tx) => {
    const id = await readRepositoryId(tx, repository);
    if (id === undefined) return;
    for (const { stretches, ...reader } of noted)
      for (const stretch of stretches) await write(tx, { id, ...reader }, stretch);
  });
}

const OF_READER = 'consumer_id = @consumerId AND repository_id = @id AND granted = @granted';

const GIVEN = `
  INSERT INTO lead_feed_reader (consumer_id, position, read_at, granted, given_at)
  VALUES (@consumerId, @upTo, @at, @granted, @at)
  ON CONFLICT (consumer_id) DO UPDATE SET granted = @granted, given_at = @at`;

const GOES_ON_FROM = `
  SELECT behind, up_to, read_at AS at FROM lead_feed_stretch
  WHERE ${OF_READER} AND up_to >= @behind AND behind <= @behind ORDER BY up_to DESC LIMIT 1`;

const HAS_REMOVAL = `
  SELECT 1 FROM lead_change
  WHERE repository_id = @id AND position > @behind AND position <= @upTo AND NOT is_visible LIMIT 1`;

const PUT = `
  INSERT INTO lead_feed_stretch (consumer_id, repository_id, granted, up_to, behind, read_at)
  VALUES (@consumerId, @id, @granted, @upTo, @behind, @at)
  ON CONFLICT (consumer_id, repository_id, granted, up_to)
  DO UPDATE SET behind = ${either('least', 'min')}(lead_feed_stretch.behind, excluded.behind)`;

const DROP = `DELETE FROM lead_feed_stretch WHERE ${OF_READER} AND up_to = @upTo`;

const FORGET = `
  DELETE FROM lead_feed_stretch WHERE ${OF_READER} AND read_at < @at::bigint - ${FEED_READABLE_MS}`;

async function write(tx: Tx, reader: Reader & { id: number }, stretch: Stretch): Promise<void> {
  await tx.run(GIVEN, { ...reader, ...stretch });
  const before = await tx.get<Stretch>(GOES_ON_FROM, { ...reader, ...stretch });
  if (before && stretch.upTo <= before.upTo) return;
  const more = { ...stretch, behind: before?.upTo ?? stretch.behind };
  const hasRemoval = (await tx.get(HAS_REMOVAL, { ...reader, ...more })) !== undefined;
  if (before && !hasRemoval) {
    await tx.run(DROP, { ...reader, ...before });
    await tx.run(PUT, { ...reader, ...before, upTo: stretch.upTo });
    return;
  }
  await tx.run(FORGET, { ...reader, ...more });
  await tx.run(PUT, { ...reader, ...more });
}

/** A consumer that may read leads, or could once. */
type LeadConsumer = {
  id: string;
  name: string;
  /** Of the grant that it has; undefined: it has none, or no key of it is good. */
  labels?: readonly string[];
  /** Its grants, each with its first and last instant (ms since the Unix epoch). */
  grants: readonly { labels: readonly string[]; from: number; to: number }[];
};

export type RemovalReaders = {
  /** Number of consumers that could ever read one of the leads. */
  couldRead: number;
  /** Number of these that hold a feed cursor that is good. */
  following: number;
  /** Number of those that have read past the removal of all of them that they could read. */
  past: number;
  /** Time at which the last one did: ms since the Unix epoch. */
  lastPastAt?: number;
  /** Names of those that follow and have not. */
  behind: readonly string[];
};

const FOLLOWERS = `
  SELECT consumer_id AS id, granted FROM lead_feed_reader WHERE given_at > @since`;

const COVERING = `
  SELECT granted, behind, read_at AS at FROM lead_feed_stretch
  WHERE consumer_id = @id AND repository_id = ${NAMED} AND up_to >= @position AND behind < @position
  ORDER BY read_at`;

type Cover = { granted: string; behind: number; at: number };

/** Undefined where that is not known of one of the leads. @throws {store-unavailable} */
export async function readRemovalReaders(
  store: LeadStore,
  numbers: readonly number[],
  consumers: readonly LeadConsumer[],
): Promise<RemovalReaders | undefined> {
  const { db, repository: name, clock } = store;
  const changes = await readChangesOf(store, numbers);
  const isKnown = changes.length === numbers.length && changes.every((one) => !one.isVisible);
  if (numbers.length === 0 || !isKnown) return undefined;
  const since = clock.now() - FEED_READABLE_MS;
  const followers = await db.all<{ id: string; granted: string }>(FOLLOWERS, { since });
  const grantedTo = new Map(followers.map(({ id, granted }) => [id, granted]));
  const readers: RemovalReaders & { behind: string[] } = {
    couldRead: 0,
    following: 0,
    past: 0,
    behind: [],
  };
  for (const consumer of consumers) {
    const removals = removalsFor(consumer, changes);
    if (removals.length === 0) continue;
    readers.couldRead += 1;
    const { labels } = consumer;
    if (!labels || grantedTo.get(consumer.id) !== grantOf(labels)) continue;
    readers.following += 1;
    const at = await readPastAt(db, { name, id: consumer.id }, removals);
    if (at === undefined) readers.behind.push(consumer.name);
    else {
      readers.past += 1;
      readers.lastPastAt = Math.max(readers.lastPastAt ?? 0, at);
    }
  }
  return readers;
}

/** Position of a lead's removal in the feed, and the grants that it is told to. */
type Removal = { position: number; granted: readonly string[] };

/** Of the leads that the consumer could ever read. */
function removalsFor({ grants }: LeadConsumer, changes: readonly LeadChange[]): Removal[] {
  return changes.flatMap((change) => {
    const readable = grants.filter(({ labels, from, to }) => {
      const span = readableSpan(change, foldLabels(labels));
      return span !== undefined && from < span.leftAt && span.first <= to;
    });
    if (readable.length === 0) return [];
    return { position: change.position, granted: readable.map(({ labels }) => grantOf(labels)) };
  });
}

/** Time at which the last of the removals was read; undefined: one of them is not known to be. */
async function readPastAt(
  db: Database,
  reader: { name: string; id: string },
  removals: readonly Removal[],
): Promise<number | undefined> {
  let last = 0;
  for (const { position, granted } of removals) {
    const covering = await db.all<Cover>(COVERING, { ...reader, position });
    const first = covering.find((one) => one.behind === 0 || granted.includes(one.granted));
    if (!first) return undefined;
    last = Math.max(last, first.at);
  }
  return last;
}
