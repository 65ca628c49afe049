import type { Clock } from '#shared/clock.ts';
import { createWriteCheck as createCheck } from '#shared/store/write-check.ts';
import type { WriteCheck } from '#shared/store/write-check.ts';
import type { Database } from '../connection/database.ts';
import { checkWrites } from './write-family.ts';

/** Whether SQLite takes writes. Waits for another process's lock as deliveries do. */
export function createWriteCheck(
  { writer }: Pick<Database, 'writer'>,
  clock: Pick<Clock, 'monotonicMs'>,
): WriteCheck {
  const commit = writer.open(checkWrites, undefined);
  const tryWriting = async (hasFailed: boolean): Promise<void> => {
    if (!hasFailed) return commit('touch');
    await commit('makeLarge');
    await commit('dropLarge');
  };
  return createCheck({ tryWriting, clock });
}
