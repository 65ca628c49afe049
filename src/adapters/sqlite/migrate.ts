import { existsSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import type { Log } from '#shared/log.ts';
import {
  applyMigrations,
  type Migration,
  readMigrationState,
  shippedMigrations,
} from '../migrations.ts';
import type { LocalDatabase } from './database.ts';
import { guard } from './connection/errors.ts';
import { createRunner, statementsOn } from './connection/statements.ts';

/** @see applyMigrations */
export function migrate(
  { database, log }: { database: LocalDatabase; log: Log },
  migrations = shippedMigrations('sqlite'),
): Promise<Migration[]> {
  return applyMigrations({ database, log }, migrations);
}

/**
 * Refuses a file of another beginning before anything is opened that would write to it: the mode of the log is in it.
 * @throws {store-unavailable}
 */
export async function refuseOtherFile(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const handle = guard(() => new BetterSqlite3(path, { readonly: true }));
  try {
    await readMigrationState(statementsOn(createRunner(handle)), shippedMigrations('sqlite'));
  } finally {
    handle.close();
  }
}
