import type { Database } from '#shared/database.ts';
import { IS_MINE, leaseOf } from '../lease-events.ts';
import type { WorkItem } from '../work-item.ts';
import { LeaseLost } from './leased-leads.ts';

/**
 * Our comment on one issue, as the store knows it. The tracker's own list of comments is not enough: a replica that
 * lags does not show one of a moment ago, whoever wrote it, for this event or for another of its delivery.
 */
export type OwnComment = {
  /** Undefined: nobody has tried. `triedAt`: ms since the Unix epoch. @throws {store-unavailable} */
  read(): Promise<{ triedAt: number; isWritten: boolean } | undefined>;
  /** To be called before it is sent. @throws {LeaseLost} @throws {store-unavailable} */
  noteTry(now: number): Promise<void>;
  /** The tracker said that it has it. @throws {store-unavailable} */
  noteWritten(): Promise<void>;
};

/** All deletions of one delivery write the same comment, each event with a rule its own. */
const READ_COMMENT = `
  SELECT tried_at, is_written FROM event_comment
  WHERE number = @number AND event IN (SELECT id FROM event WHERE receipt =
    (SELECT receipt FROM event WHERE id = @event) AND (id = @event OR is_deletion = true))
  ORDER BY is_written DESC, tried_at DESC LIMIT 1`;

const NOTE_TRY = `
  INSERT INTO event_comment (event, number, tried_at)
  SELECT id, @number::bigint, @now::bigint FROM event WHERE ${IS_MINE}
  ON CONFLICT (event, number) DO UPDATE SET tried_at = excluded.tried_at`;

/** Not fenced: it is so whoever has the event now, and keeps that one from writing the comment twice. */
const NOTE_WRITTEN = `
  UPDATE event_comment SET is_written = true WHERE event = @event AND number = @number`;

export function createOwnComment(db: Database, item: WorkItem, number: number): OwnComment {
  const { event } = item;
  return {
    read: () => db.get(READ_COMMENT, { event, number }),
    noteTry: async (now) => {
      const row = { ...leaseOf(item), number, now };
      if ((await db.exclusive((tx) => tx.run(NOTE_TRY, row))) === 0) throw new LeaseLost();
    },
    noteWritten: async () => void (await db.run(NOTE_WRITTEN, { event, number })),
  };
}
