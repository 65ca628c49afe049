import type { ChangeLog } from './instance-change.ts';
import type { Tx, Database } from '#shared/database.ts';

/** How many batches are kept. */
export const BATCHES_KEPT = 256;

/** Batches are committed in the order of their positions. */
const LOCK = 'SELECT pg_advisory_xact_lock(1953653099, 3)';

/** No sequence: that leaves holes, and shows a later number before an earlier one. */
const APPEND = `
  INSERT INTO change_batch (position, instance_id, changes)
  SELECT coalesce(max(position), 0) + 1, @instanceId, @changes FROM change_batch
  RETURNING position`;

const REMOVE_OLD = 'DELETE FROM change_batch WHERE position <= @upTo';

const CHANNEL = 'trackport_changes';

/** Heard when this transaction is committed. */
const NOTIFY = `NOTIFY ${CHANNEL}`;

async function append(session: Tx, instanceId: string, changes: string): Promise<void> {
  await session.get(LOCK);
  const row = await session.get<{ position: number }>(APPEND, { instanceId, changes });
  await session.run(REMOVE_OLD, { upTo: (row?.position ?? 0) - BATCHES_KEPT });
  await session.get(NOTIFY);
}

/** `instanceId` tells the batches of this process from those of others. */
export type ChangeLogOptions = { instanceId: string };

type BatchRow = { position: number; instanceId: string; changes: string };

const LAST = `
  SELECT position, instance_id, changes FROM change_batch ORDER BY position DESC LIMIT 1`;

/** With the one that was read last, or else the newest there is: whether it goes on from there. */
const FROM = `
  SELECT position, instance_id, changes FROM change_batch
  WHERE position >= @position OR position = (SELECT max(position) FROM change_batch)
  ORDER BY position`;

/** The change log, whatever the engine. */
export function createChangeLog(database: Database, { instanceId }: ChangeLogOptions): ChangeLog {
  let seen: BatchRow | undefined;
  /** Those behind `position`; all of them where it is not the batch that was read before. */
  const behind = (rows: readonly BatchRow[], position: number): readonly BatchRow[] => {
    const first = rows[0];
    if (first?.position !== position) return rows;
    return seen?.position !== position || isSame(seen, first) ? rows.slice(1) : rows;
  };
  return {
    append: (text) => database.transaction((tx) => append(tx, instanceId, text)),
    lastPosition: async () => {
      seen = await database.get<BatchRow>(LAST);
      return seen?.position ?? 0;
    },
    readAfter: async (position) => {
      const rows = await database.all<BatchRow>(FROM, { position });
      const batches = behind(rows, position);
      seen = rows.at(-1);
      return batches.map((row) => ({
        position: row.position,
        ...(row.instanceId !== instanceId && { text: row.changes }),
      }));
    },
    watch: (onAppended) => database.listen(CHANNEL, onAppended),
  };
}

/** After a failover another batch may have its position. */
function isSame(left: BatchRow, right: BatchRow): boolean {
  return left.instanceId === right.instanceId && left.changes === right.changes;
}
