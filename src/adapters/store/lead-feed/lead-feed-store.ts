import type { FeedReader, FeedStore, LeadChange } from '#leads/lead-feed/feed-store.ts';
import { directoryWrites } from '../directory/writes.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { NAMED } from '../directory/view.ts';
import { bindWrites, type StoreDatabase } from '../session.ts';
import { CHANNEL, leadFeedWrites } from './writes.ts';

export type LeadFeedOptions = {
  /** `owner/name`, in any case. */
  repository: string;
  /** Milliseconds since the Unix epoch. */
  now: () => number;
};

const END = `
  SELECT (SELECT max(position) FROM lead_change WHERE repository_id = known.repository_id) AS position
  FROM tracker_repository AS known WHERE name = @name`;

const AFTER = `
  SELECT number, position, is_visible, updated_at, labels FROM lead_change
  WHERE repository_id = ${NAMED} AND (position, number) > (@position, @number)
    AND carried @> @labels::jsonb
  ORDER BY position, number LIMIT @limit`;

const KNOWN = `
  SELECT number, carried FROM lead_change
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

const READER = 'SELECT * FROM lead_feed_reader WHERE consumer_id = @consumerId';
const FOLLOWED = 'SELECT 1 FROM lead_feed_reader WHERE read_at >= @since LIMIT 1';

/** The changes of leads, whatever the engine. */
export function createLeadFeedStore(
  database: StoreDatabase,
  { repository, now }: LeadFeedOptions,
): FeedStore {
  const name = repository.toLowerCase();
  const { hide } = bindWrites(database.writer.callExclusive, 'lead-feed', leadFeedWrites);
  const { noteRead } = bindWrites(database.writer.callExclusive, 'directory', directoryWrites);
  const { noteReader } = bindWrites(database.writer.call, 'lead-feed', leadFeedWrites);
  return {
    end: createNextTurnFlight(async () => {
      const last = await database.get<{ position?: number }>(END, { name });
      return last && ([last.position ?? 0, Number.MAX_SAFE_INTEGER] as const);
    }),
    changesAfter: async ([position, number], { labels, limit }) => {
      const values = { name, position, number, labels: JSON.stringify(labels), limit };
      const rows = await database.all<Omit<LeadChange, 'labels'> & { labels: string }>(
        AFTER,
        values,
      );
      return rows.map((row) => ({ ...row, labels: JSON.parse(row.labels) as string[] }));
    },
    hide: (number) => hide(name, number, now()),
    noteRead: async (leads) => {
      const numbers = leads.map(({ number }) => number);
      const rows = await database.all<{ number: number; carried: string }>(KNOWN, {
        name,
        numbers,
      });
      const known = new Map(
        rows.map((row) => [row.number, new Set(JSON.parse(row.carried) as string[])]),
      );
      const fresh = leads.filter(
        ({ number, labels }) => !labels.every((one) => known.get(number)?.has(one)),
      );
      if (fresh.length > 0) await noteRead(name, fresh, now());
    },
    noteReader: (reader) => noteReader(reader),
    reader: (consumerId) => database.get<FeedReader>(READER, { consumerId }),
    isFollowed: async (since) => (await database.get(FOLLOWED, { since })) !== undefined,
    watch: (onChanged) => database.listen(CHANNEL, onChanged),
  };
}
