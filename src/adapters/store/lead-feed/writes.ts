import type { FeedReader, ReadLead } from '#leads/lead-feed/feed-store.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import { type Session, toRecords } from '../session.ts';
import { IS_CLAIMED, readRepositoryId } from '../directory/view.ts';

/** Leads of a repository that something was written of, and when: ms since the Unix epoch. */
export type Touched = { id: number; numbers: readonly number[]; at: number };

/** Behind all that anybody has read. A store that was set back goes on behind what it had given out before. */
const NEXT = `
  (SELECT greatest(@at::bigint, coalesce(max(position), 0) + 1) FROM lead_change WHERE repository_id = @id)`;

/**
 * The tracker counts whole seconds: what was noted so soon after the second of its change (and by clocks that are so
 * far apart) may have been changed in it once more.
 */
const SAME_SECOND_MS = 12 * SECOND;

/**
 * What a crawl meets for the first time, and nobody touched for a day, is no change: who follows the feed read it
 * when they began. Nor is it when a crawl meets again what was read.
 */
const placeOf = (updatedAt: string): string =>
  `CASE WHEN ${updatedAt} < @oldBefore THEN ${updatedAt} + ${SAME_SECOND_MS} ELSE ${NEXT} END`;

const NOTE = `
  INSERT INTO lead_change AS known
    (repository_id, number, position, is_visible, updated_at, labels, carried)
  SELECT lead.repository_id, lead.number, ${placeOf('lead.updated_at')},
    lead.approved AND NOT lead.is_moved AND NOT ${IS_CLAIMED('lead')},
    lead.updated_at, lead.labels, approval.labels
  FROM directory_lead AS lead JOIN directory_approval AS approval
    ON approval.repository_id = lead.repository_id AND approval.number = lead.number
  WHERE lead.repository_id = @id AND lead.number = ANY(@numbers::bigint[])
  ON CONFLICT (repository_id, number) DO UPDATE SET position = ${NEXT},
    is_visible = excluded.is_visible, updated_at = excluded.updated_at, labels = excluded.labels,
    carried = excluded.carried
  WHERE known.carried <> excluded.carried OR known.is_visible <> excluded.is_visible
    OR (excluded.is_visible
      AND (known.updated_at <> excluded.updated_at OR known.labels <> excluded.labels
        OR known.position < excluded.updated_at + ${SAME_SECOND_MS}))`;

const HIDE = `
  UPDATE lead_change SET is_visible = false, position = ${NEXT}
  WHERE repository_id = @id AND number = ANY(@numbers::bigint[]) AND is_visible`;

const HIDE_CLAIMED = `${HIDE} AND ${IS_CLAIMED('lead_change')}`;

/** Nobody tells of an issue that goes while no webhook comes: it has no row in the directory any more. */
const HIDE_LOST = `
  UPDATE lead_change SET is_visible = false, position = ${NEXT}
  WHERE repository_id = @id AND is_visible AND position < (
      SELECT crawl_started_at FROM directory_state WHERE repository_id = @id)
    AND NOT EXISTS (SELECT 1 FROM directory_lead AS lead
      WHERE lead.repository_id = lead_change.repository_id AND lead.number = lead_change.number)`;

/** The newest stays: positions count on from it. */
const FORGET = `
  DELETE FROM lead_change
  WHERE repository_id = @id AND NOT is_visible AND position < @before
    AND position < (SELECT max(position) FROM lead_change WHERE repository_id = @id)`;

const NOTE_READ = `
  INSERT INTO lead_change (repository_id, number, position, is_visible, updated_at, labels, carried)
  SELECT @id::bigint, given.number, ${placeOf('given.updated_at')}, true, given.updated_at,
    given.labels, approval.labels
  FROM jsonb_to_recordset(@leads) AS given (number bigint, updated_at bigint, labels jsonb)
    JOIN directory_approval AS approval
      ON approval.repository_id = @id AND approval.number = given.number
  WHERE true
  ON CONFLICT (repository_id, number) DO UPDATE SET carried = excluded.carried`;

const NOTE_READER = `
  INSERT INTO lead_feed_reader (consumer_id, position, read_at) VALUES (@consumerId, @position, @readAt)
  ON CONFLICT (consumer_id) DO UPDATE SET position = @position, read_at = @readAt`;

export const CHANNEL = 'trackport_leads';

/** Heard when this transaction is committed. */
const NOTIFY = `NOTIFY ${CHANNEL}`;

/** How long who has a cursor can go on from there. */
const READABLE_MS = 30 * DAY;

/**
 * To be called, in the same transaction, whenever something was written of leads in the directory. `isCrawl`: a crawl
 * met them.
 */
export async function noteLeads(
  session: Session,
  { at, ...touched }: Touched,
  { isCrawl = false } = {},
): Promise<void> {
  if (touched.numbers.length === 0) return;
  const oldBefore = isCrawl ? at - DAY : 0;
  await tellOf(session, await session.run(NOTE, { ...touched, at, oldBefore }));
}

/** The same of leads that nobody can read any more, whatever the directory knows of them. */
export async function hideLeads(session: Session, touched: Touched): Promise<void> {
  if (touched.numbers.length > 0) await tellOf(session, await session.run(HIDE, touched));
}

/** The same of those among them that are claimed. */
export async function hideClaimed(session: Session, touched: Touched): Promise<void> {
  await tellOf(session, await session.run(HIDE_CLAIMED, touched));
}

/** Leads that readers have, with all labels that they carry; the directory may not have met them yet. */
export async function noteReadLeads(
  session: Session,
  { id, at, leads }: { id: number; at: number; leads: readonly ReadLead[] },
): Promise<void> {
  await session.run(NOTE_READ, { id, at, oldBefore: at - DAY, leads: toRecords(leads) });
}

/** At the end of a full crawl. */
export async function settleLeads(
  session: Session,
  { id, at }: Omit<Touched, 'numbers'>,
): Promise<void> {
  await tellOf(session, await session.run(HIDE_LOST, { id, at }));
  await session.run(FORGET, { id, before: at - READABLE_MS });
}

async function tellOf(session: Session, changed: number): Promise<void> {
  if (changed > 0) await session.get(NOTIFY);
}

/** `name` is the repository's `owner/name` in lower case. */
export const leadFeedWrites = {
  hide: async (session: Session, name: string, number: number, at: number): Promise<void> => {
    const id = await readRepositoryId(session, name);
    if (id !== undefined) await hideLeads(session, { id, numbers: [number], at });
  },
  noteReader: async (session: Session, reader: FeedReader): Promise<void> => {
    await session.run(NOTE_READER, reader);
  },
};
