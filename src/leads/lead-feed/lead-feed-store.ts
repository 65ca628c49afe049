import type { FeedReader, FeedStore } from './feed-store.ts';
import { type LeadChange, type ReadLead, shownChange } from './lead-change.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { NAMED } from '../directory/directory-view.ts';
import type { Database } from '#shared/database.ts';
import { CHANGE_COLUMNS, type ChangeRow, toChange } from './change-rows.ts';
import { CHANNEL, leadFeedWrites } from './note-changes.ts';

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
  SELECT ${CHANGE_COLUMNS} FROM lead_change
  WHERE repository_id = ${NAMED} AND (position, number) > (@position, @number)
  ORDER BY position, number LIMIT @limit`;

const KNOWN = `
  SELECT ${CHANGE_COLUMNS} FROM lead_change
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

const VISIBLE = `
  SELECT 1 FROM lead_change
  WHERE repository_id = ${NAMED} AND number = @number AND is_visible AND position <= @before`;

const READER = 'SELECT * FROM lead_feed_reader WHERE consumer_id = @consumerId';
const FOLLOWED = 'SELECT 1 FROM lead_feed_reader WHERE read_at >= @since LIMIT 1';

/** The changes of leads, whatever the engine. */
export function createLeadFeedStore(
  database: Database,
  { repository, now }: LeadFeedOptions,
): FeedStore {
  const name = repository.toLowerCase();
  return {
    end: createNextTurnFlight(async () => {
      const last = await database.get<{ position?: number }>(END, { name });
      return last && ([last.position ?? 0, Number.MAX_SAFE_INTEGER] as const);
    }),
    changesAfter: async ([position, number], limit) =>
      (await database.all<ChangeRow>(AFTER, { name, position, number, limit })).map(toChange),
    hide: async (number, before = Infinity) => {
      const values = { name, number, before: Math.min(before, Number.MAX_SAFE_INTEGER) };
      const isTold = await database.get(VISIBLE, values);
      if (isTold) await database.exclusive((tx) => leadFeedWrites.hide(tx, name, number, now()));
    },
    noteRead: async (leads) => {
      const numbers = leads.map((lead) => lead.number);
      const read = async (): Promise<Map<number, LeadChange>> => {
        const rows = await database.all<ChangeRow>(KNOWN, { name, numbers });
        return new Map(rows.map((row) => [row.number, toChange(row)]));
      };
      const before = await read();
      const isNew = (lead: ReadLead) => shownChange(before.get(lead.number), lead, 0);
      const isAllKnown = !leads.some(isNew);
      if (!isAllKnown)
        await database.exclusive((tx) => leadFeedWrites.noteRead(tx, name, leads, now()));
      const known = isAllKnown ? before : await read();
      return new Map(leads.flatMap((lead) => positionOf(lead, known.get(lead.number))));
    },
    noteReader: (reader) => database.transaction((tx) => leadFeedWrites.noteReader(tx, reader)),
    reader: (consumerId) => database.get<FeedReader>(READER, { consumerId }),
    isFollowed: async (since) => (await database.get(FOLLOWED, { since })) !== undefined,
    watch: (onChanged) => database.listen(CHANNEL, onChanged),
  };
}

function positionOf(lead: ReadLead, known?: LeadChange): [number, number][] {
  const isSame = known?.isVisible === true && known.look?.equals(lead.look) === true;
  return isSame ? [[lead.number, known.position]] : [];
}
