/**
 * The changes of leads, for the repository of the configured name. One row for each lead that could ever be read, in
 * the order in which they changed last; rows of leads that went are kept for 30 days.
 */
import type { Database } from '#shared/database.ts';
import { type LeadStore, NAMED } from '../lead-store.ts';
import { HISTORY, type LeadChange, type Span } from './lead-change.ts';

/** The change behind which a read goes on: its position, then the issue number. */
export type FeedPlace = readonly [position: number, number: number];

/** A consumer that follows the feed. Instants are ms since the Unix epoch. */
export type FeedReader = { consumerId: string; position: number; readAt: number };

export const CHANGE_COLUMNS =
  'number, position, changed_at, is_visible, updated_at, labels, look, carried';

/** JSON comes as its text. */
export type ChangeRow = Omit<LeadChange, 'labels' | 'lookDigest' | 'carried'> & {
  labels: string;
  look?: Buffer;
  carried: string;
};

export function toChange({ look, ...row }: ChangeRow): LeadChange {
  return {
    ...row,
    lookDigest: look,
    labels: JSON.parse(row.labels) as string[],
    carried: JSON.parse(row.carried) as Span[],
  };
}

const END = `
  SELECT (SELECT max(position) FROM lead_change WHERE repository_id = known.repository_id) AS position
  FROM tracker_repository AS known WHERE name = @name`;

const HISTORY_BEGINS = `
  SELECT position FROM lead_change WHERE repository_id = ${NAMED} AND number = @number`;

const AFTER = `
  SELECT ${CHANGE_COLUMNS} FROM lead_change
  WHERE repository_id = ${NAMED} AND (position, number) > (@position, @number)
  ORDER BY position, number LIMIT @limit`;

const READER = 'SELECT * FROM lead_feed_reader WHERE consumer_id = @consumerId';
const FOLLOWED = 'SELECT 1 FROM lead_feed_reader WHERE read_at >= @since LIMIT 1';

/** The place behind all changes; undefined while the store does not know the repository. @throws {store-unavailable} */
export async function readFeedEnd({ db, repository }: LeadStore): Promise<FeedPlace | undefined> {
  const last = await db.get<{ position?: number }>(END, { name: repository });
  return last && [last.position ?? 0, Number.MAX_SAFE_INTEGER];
}

/** The position at which the history begins that cursors hold for; undefined: it is whole. @throws {store-unavailable} */
export async function readHistory({ db, repository }: LeadStore): Promise<number | undefined> {
  return (await db.get<{ position: number }>(HISTORY_BEGINS, { name: repository, number: HISTORY }))
    ?.position;
}

/** The next changes, in order. @throws {store-unavailable} */
export async function readChangesAfter(
  { db, repository }: LeadStore,
  [position, number]: FeedPlace,
  limit: number,
): Promise<readonly LeadChange[]> {
  const values = { name: repository, position, number, limit };
  return (await db.all<ChangeRow>(AFTER, values)).map(toChange);
}

/** Undefined: the consumer never read the feed. @throws {store-unavailable} */
export function readFeedReader(db: Database, consumerId: string): Promise<FeedReader | undefined> {
  return db.get<FeedReader>(READER, { consumerId });
}

/** True when anybody has read since `since` (ms since the Unix epoch). @throws {store-unavailable} */
export async function isFeedFollowed(db: Database, since: number): Promise<boolean> {
  return (await db.get(FOLLOWED, { since })) !== undefined;
}
