import { parseChanges, renderChanges } from '#leads/feed/change.ts';
import { BATCHES_KEPT } from '#leads/feed/change-log.ts';
import type { ChangeBatch, ChangeLog } from '#leads/feed/change-log.ts';
import type { Database } from '../connection/database.ts';
import { LOCK_FOR_CHANGES } from '../locks.ts';

/** `instanceId` tells the batches of this process from those of others. */
export type ChangeLogOptions = { instanceId: string };

/** `mark` tells a batch from another one that got its position after a failover. */
type BatchRow = { position: number; mark: string; changes: string | null };

/** No sequence: that leaves holes, and shows a later number before an earlier one. */
const APPEND = `
  INSERT INTO change_batch (position, instance_id, changes)
  SELECT coalesce(max(position), 0) + 1, @instanceId, @changes FROM change_batch
  RETURNING position`;

const REMOVE_OLD = 'DELETE FROM change_batch WHERE position <= @upTo';

const CHANNEL = 'trackport_changes';

/** Heard when this transaction is committed. */
const NOTIFY = `NOTIFY ${CHANNEL}`;

const MARK = 'md5(instance_id || changes) AS mark';

const LAST = `SELECT position, ${MARK} FROM change_batch ORDER BY position DESC LIMIT 1`;

/** With the one that was read last, or else the newest there is: whether it goes on from there. */
const FROM = `
  SELECT position, ${MARK}, CASE WHEN instance_id = @instanceId THEN NULL ELSE changes END AS changes
  FROM change_batch
  WHERE position >= @position OR position = (SELECT max(position) FROM change_batch)
  ORDER BY position`;

/** The change log in PostgreSQL. */
export function createChangeLog(database: Database, { instanceId }: ChangeLogOptions): ChangeLog {
  let seen: Pick<BatchRow, 'position' | 'mark'> | undefined;
  /** Those behind `position`; all of them where it is not the batch that was read before. */
  const behind = (rows: readonly BatchRow[], position: number): readonly BatchRow[] => {
    const first = rows[0];
    if (first?.position !== position) return rows;
    const isSame = seen?.position !== position || seen.mark === first.mark;
    return isSame ? rows.slice(1) : rows;
  };
  return {
    append: (changes) =>
      database.transaction(async (session) => {
        await session.get(LOCK_FOR_CHANGES);
        const values = { instanceId, changes: renderChanges(changes) };
        const row = await session.get<{ position: number }>(APPEND, values);
        await session.run(REMOVE_OLD, { upTo: (row?.position ?? 0) - BATCHES_KEPT });
        await session.run(NOTIFY);
      }),
    lastPosition: async () => {
      seen = await database.get<BatchRow>(LAST);
      return seen?.position ?? 0;
    },
    readAfter: async (position) => {
      const rows = await database.all<BatchRow>(FROM, { position, instanceId });
      const batches = behind(rows, position);
      seen = rows.at(-1);
      return batches.map(toBatch);
    },
    watch: (onAppended) => database.listen(CHANNEL, onAppended),
  };
}

function toBatch({ position, changes }: BatchRow): ChangeBatch {
  return { position, changes: changes === null ? [] : parseChanges(changes) };
}
