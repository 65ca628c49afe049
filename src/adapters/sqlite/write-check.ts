import { createWriteCheck as createCheck, LARGE_BYTES } from '#shared/store/write-check.ts';
import type { WriteCheck, WriteCheckDeps } from '#shared/store/write-check.ts';
import { bindWrites } from '../store/session.ts';
import type { StoreDatabase } from '../store/session.ts';
import { checkWrites } from './store-writes.ts';

/** Whether SQLite takes writes. Waits for another process's lock as deliveries do. */
export function createWriteCheck(
  database: Pick<StoreDatabase, 'writer'>,
  clock: WriteCheckDeps['clock'],
): WriteCheck {
  const { fill } = bindWrites(database, 'write-check', checkWrites);
  const touch = () => fill(0);
  const tryRoom = () => fill(LARGE_BYTES).then(touch);
  return createCheck({ touch, tryRoom, clock });
}
