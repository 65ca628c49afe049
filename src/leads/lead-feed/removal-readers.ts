/** Consumers that could read leads that were taken away, and those that have read that they were. */
import type { Database } from '#shared/database.ts';
import { foldLabels } from '#shared/text/labels.ts';
import { type LeadStore, NAMED } from '../lead-store.ts';
import { grantOf } from './feed-cursors.ts';
import { FEED_READABLE_MS, type LeadChange, readableSpan } from './lead-change.ts';
import { CHANGE_COLUMNS, type ChangeRow, toChange } from './read-changes.ts';

/** A consumer that may read leads, or could once. */
export type LeadConsumer = {
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

const CHANGES = `
  SELECT ${CHANGE_COLUMNS} FROM lead_change
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

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
  const changes = (await db.all<ChangeRow>(CHANGES, { name, numbers })).map(toChange);
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
