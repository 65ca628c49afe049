import type { Clock } from '#shared/clock.ts';
import { createWriteCheck as createCheck } from '#shared/store/write-check.ts';
import type { WriteCheck } from '#shared/store/write-check.ts';
import type { Database } from '../connection/database.ts';
import { checkWrites } from './write-family.ts';

type Writable = Pick<Database, 'writer'>;

/**
 * Resolves when the store takes more than most deliveries at this moment; leaves nothing in it.
 * @throws {store-unavailable}
 */
export async function tryWriting(database: Writable): Promise<void> {
  await openTries(database).large();
}

/** Whether SQLite takes writes. Waits for another process's lock as deliveries do. */
export function createWriteCheck(
  database: Writable,
  clock: Pick<Clock, 'monotonicMs'>,
): WriteCheck {
  const tries = openTries(database);
  return createCheck({
    tryWriting: (hasFailed) => (hasFailed ? tries.large() : tries.small()),
    clock,
  });
}

function openTries({ writer }: Writable) {
  const commit = writer.open(checkWrites, undefined);
  return {
    small: () => commit('touch'),
    large: async (): Promise<void> => {
      await commit('makeLarge');
      await commit('dropLarge');
    },
  };
}
