import { createWriteCheck as createCheck, LARGE_BYTES } from '#shared/store/write-check.ts';
import type { WriteCheck, WriteCheckDeps } from '#shared/store/write-check.ts';
import { checkWrites } from './store-writes.ts';
import type { Database } from './connection/database.ts';

/** Whether SQLite takes writes. Waits for another process's lock as deliveries do. */
export function createWriteCheck(
  { writer }: Pick<Database, 'writer'>,
  clock: WriteCheckDeps['clock'],
): WriteCheck {
  const commit = writer.open(checkWrites, undefined);
  const touch = () => commit('fill', 0);
  const tryRoom = () => commit('fill', LARGE_BYTES).then(touch);
  return createCheck({ touch, tryRoom, clock });
}
