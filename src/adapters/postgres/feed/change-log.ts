import { parseChanges, renderChanges } from '#leads/feed/change.ts';
import { BATCHES_KEPT } from '#leads/feed/change-log.ts';
import type { ChangeLog } from '#leads/feed/change-log.ts';
import type { Database } from '../database.ts';
import { LOCK_FOR_CHANGES } from '../locks.ts';

/** `instanceId` tells the batches of this process from those of others. */
export type ChangeLogOptions = { instanceId: string };

type BatchRow = { position: number; changes: string | null };

/** No sequence: that leaves holes, and shows a later number before an earlier one. */
const APPEND = `
  INSERT INTO change_batch (position, instance_id, changes)
  SELECT coalesce(max(position), 0) + 1, @instanceId, @changes FROM change_batch
  RETURNING position`;

const REMOVE_OLD = 'DELETE FROM change_batch WHERE position <= @upTo';

const LAST_POSITION = 'SELECT coalesce(max(position), 0) AS position FROM change_batch';

const AFTER = `
  SELECT position, CASE WHEN instance_id = @instanceId THEN NULL ELSE changes END AS changes
  FROM change_batch WHERE position > @position ORDER BY position`;

/** The change log in PostgreSQL. */
export function createChangeLog(database: Database, { instanceId }: ChangeLogOptions): ChangeLog {
  return {
    append: (changes) =>
      database.transaction(async (session) => {
        await session.get(LOCK_FOR_CHANGES);
        const values = { instanceId, changes: renderChanges(changes) };
        const row = await session.get<{ position: number }>(APPEND, values);
        await session.run(REMOVE_OLD, { upTo: (row?.position ?? 0) - BATCHES_KEPT });
      }),
    lastPosition: async () => {
      const row = await database.get<{ position: number }>(LAST_POSITION);
      return row?.position ?? 0;
    },
    readAfter: async (position) => {
      const rows = await database.all<BatchRow>(AFTER, { position, instanceId });
      return rows.map((row) => ({
        position: row.position,
        changes: row.changes === null ? [] : parseChanges(row.changes),
      }));
    },
  };
}
