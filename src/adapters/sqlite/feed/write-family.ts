import { BATCHES_KEPT } from '#leads/feed/change-log.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';

/** `instanceId` tells the batches of this process from those of others. */
export type ChangeLogOptions = { instanceId: string };

type FeedWrites = ReturnType<typeof createFeedWrites>;

export const feedWrites: WriteFamily<ChangeLogOptions, FeedWrites> = {
  name: 'feed',
  create: createFeedWrites,
};

function createFeedWrites({ handle }: Connection, { instanceId }: ChangeLogOptions) {
  // The newest row is never deleted, so that its successor gets the next number.
  const insert = handle.prepare<[{ instanceId: string; changes: string }]>(
    'INSERT INTO change_batch (instanceId, changes) VALUES (@instanceId, @changes)',
  );
  const removeUpTo = handle.prepare<[number]>('DELETE FROM change_batch WHERE position <= ?');
  return {
    append: (changes: string): void => {
      const { lastInsertRowid } = insert.run({ instanceId, changes });
      removeUpTo.run(Number(lastInsertRowid) - BATCHES_KEPT);
    },
  };
}
