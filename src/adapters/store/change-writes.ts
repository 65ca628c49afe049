import { BATCHES_KEPT } from '#leads/instance-changes/change-log.ts';
import type { Session } from './session.ts';

/** Batches are committed in the order of their positions. */
const LOCK = 'SELECT pg_advisory_xact_lock(1953653099, 3)';

/** No sequence: that leaves holes, and shows a later number before an earlier one. */
const APPEND = `
  INSERT INTO change_batch (position, instance_id, changes)
  SELECT coalesce(max(position), 0) + 1, @instanceId, @changes FROM change_batch
  RETURNING position`;

const REMOVE_OLD = 'DELETE FROM change_batch WHERE position <= @upTo';

export const CHANNEL = 'trackport_changes';

/** Heard when this transaction is committed. */
const NOTIFY = `NOTIFY ${CHANNEL}`;

export const changeWrites = {
  append: async (session: Session, instanceId: string, changes: string): Promise<void> => {
    await session.get(LOCK);
    const row = await session.get<{ position: number }>(APPEND, { instanceId, changes });
    await session.run(REMOVE_OLD, { upTo: (row?.position ?? 0) - BATCHES_KEPT });
    await session.get(NOTIFY);
  },
};
