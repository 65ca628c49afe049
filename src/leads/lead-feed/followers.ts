/** Consumers that follow the lead feed, and the position that each has come to. */
import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { foldLabels } from '#shared/text/labels.ts';
import type { LeadStore } from '../lead-store.ts';
import type { Visibility } from '../model/lead-query.ts';
import type { FeedPosition } from './feed-cursors.ts';
import { changeFor } from './lead-change.ts';
import { readChangesAfter } from './stored-changes.ts';

/** Position of a follower, as it was noted last. Instants are ms since the Unix epoch. */
export type FollowerNote = { consumerId: string; position: number; readAt: number };

const NOTE_EVERY_MS = 10 * SECOND;
const FOLLOWERS_MAX = 10_000;

const PUT = `
  INSERT INTO lead_feed_reader (consumer_id, position, read_at) VALUES (@consumerId, @position, @readAt)
  ON CONFLICT (consumer_id) DO UPDATE SET position = @position, read_at = @readAt`;

/**
 * Notes who reads: while anybody follows the lead directory is kept, and people see who, and how far. A store that takes
 * no writes stops no read.
 */
export function createFollowerNotes(store: LeadStore, clock: Clock, log: Log) {
  const notedAt = new LRUCache<string, number>(atMostEntries(FOLLOWERS_MAX));
  return async ({ consumerId }: Visibility, { place }: FeedPosition): Promise<void> => {
    const now = clock.monotonicMs();
    if (now - (notedAt.get(consumerId) ?? -Infinity) < NOTE_EVERY_MS) return;
    notedAt.set(consumerId, now);
    const note = { consumerId, position: place[0], readAt: clock.now() };
    await putFollowerNote(store.db, note).catch((error: unknown) =>
      log.warn(errorFields(error), 'could not note who follows the lead feed'),
    );
  };
}

/** @throws {store-unavailable} */
export async function putFollowerNote(db: Database, note: FollowerNote): Promise<void> {
  await db.run(PUT, note);
}

const FOLLOWED = 'SELECT 1 FROM lead_feed_reader WHERE read_at >= @since LIMIT 1';

/** True when anybody has read since `since` (ms since the Unix epoch). @throws {store-unavailable} */
export async function isFeedFollowed(db: Database, since: number): Promise<boolean> {
  return (await db.get(FOLLOWED, { since })) !== undefined;
}

/** A consumer that follows the feed. Instants are ms since the Unix epoch, right within some 30 seconds. */
export type Follower = {
  readAt: number;
  /** Time of the first change that waits for it; undefined: it has all. */
  behindSince?: number;
};

/** Number of changes among which one that waits for a follower is looked for. */
const CHANGES_MAX = 2000;
/** Delay with which a reader's position is noted. */
const NOTED_WITHIN_MS = 30 * SECOND;

const FIND = 'SELECT * FROM lead_feed_reader WHERE consumer_id = @consumerId';

/** Undefined: the consumer never read the feed. @throws {store-unavailable} */
export function findFollowerNote(
  db: Database,
  consumerId: string,
): Promise<FollowerNote | undefined> {
  return db.get<FollowerNote>(FIND, { consumerId });
}

/** Undefined: the consumer never read the feed. @throws {store-unavailable} */
export async function readFollower(
  { store, clock }: { store: LeadStore; clock: Clock },
  { consumerId, labels }: Visibility,
): Promise<Follower | undefined> {
  const note = await findFollowerNote(store.db, consumerId);
  if (!note) return undefined;
  const place = [note.position, Number.MAX_SAFE_INTEGER] as const;
  const folded = foldLabels(labels);
  const changes = await readChangesAfter(store, place, CHANGES_MAX);
  const next = changes
    .map((change) => changeFor(change, folded)?.at ?? 0)
    .find((at) => at > note.position);
  const isBehind = next !== undefined && clock.now() - next > NOTED_WITHIN_MS;
  return { readAt: note.readAt, ...(isBehind && { behindSince: next }) };
}
