import { fileURLToPath } from 'node:url';
import { searchTextOf } from '#catalog/reading/search-terms.ts';
import type { Log } from '#shared/log.ts';
import { programUrl } from '#shared/program.ts';
import {
  type AppliedMigration,
  type Migration,
  type MigrationState,
  readMigrations,
  refuseNewerSchema,
  toMigrationState,
} from '#shared/store/migrations.ts';
import type { Connection } from './connection/connection.ts';
import { guard, isUniqueViolation } from './connection/errors.ts';

const shippedDirectory = fileURLToPath(programUrl('migrations/sqlite'));

/** Which migrations the store has, and which it lacks. Changes nothing. @throws {store-unavailable} */
export function readMigrationState(
  connection: Pick<Connection, 'handle'>,
  migrations: Migration[] = readMigrations(shippedDirectory),
): MigrationState {
  return toMigrationState(readApplied(connection), migrations);
}

function readApplied(connection: Pick<Connection, 'handle'>): AppliedMigration[] {
  return guard(() => {
    const exists = connection.handle
      .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'")
      .get();
    if (!exists) return [];
    return connection.handle
      .prepare<[], AppliedMigration>('SELECT number, name, kind FROM migration ORDER BY number')
      .all();
  });
}

export type MigrateDeps = { database: Connection; log: Log; now?: () => number };

/**
 * Brings the store to the newest schema, each migration in a transaction of its own. Safe to run
 * from several processes at once, and again. Returns what it applied itself.
 * @throws {store-unavailable} also when a newer Trackport left a breaking migration
 */
export function migrate(
  { database: connection, log, now = Date.now }: MigrateDeps,
  migrations: Migration[] = readMigrations(shippedDirectory),
): Migration[] {
  const state = readMigrationState(connection, migrations);
  refuseNewerSchema(state, log);
  const { pending } = state;
  if (pending.length === 0) return [];
  guard(() => connection.handle.exec(MIGRATION_TABLE));
  connection.handle.function('search_text', { varargs: true }, searchTextFor);
  return pending.filter((migration) => applyOne(connection, migration, now()));
}

const MIGRATION_TABLE = `
  CREATE TABLE IF NOT EXISTS migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('breaking', 'compatible')),
    appliedAt INTEGER NOT NULL -- milliseconds since the Unix epoch
  ) STRICT`;

/** What 0030 cuts the terms of versions with that are there already. */
function searchTextFor(
  ...[id, title, owner, groupPath, description]: [string, string, string, ...(string | null)[]]
): string {
  return searchTextOf({
    id,
    title,
    owner,
    groupPath: groupPath ?? '',
    description: description ?? '',
  });
}

/** False when another migrator was first: its row, inserted before all else, refuses ours. */
function applyOne(connection: Connection, migration: Migration, now: number): boolean {
  try {
    connection.transaction(() => {
      connection.handle
        .prepare('INSERT INTO migration (number, name, kind, appliedAt) VALUES (?, ?, ?, ?)')
        .run(migration.number, migration.name, migration.kind, now);
      connection.handle.exec(migration.sql);
    });
    return true;
  } catch (error) {
    const taken = isUniqueViolation(error) && hasMigration(connection, migration.number);
    if (taken) return false;
    throw error;
  }
}

function hasMigration(connection: Connection, number: number): boolean {
  return readApplied(connection).some((applied) => applied.number === number);
}
