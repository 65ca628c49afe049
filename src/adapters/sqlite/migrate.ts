import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { TrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import type { Database } from './database.ts';
import { guard, isUniqueViolation } from './errors.ts';

/**
 * `breaking`: an older Trackport must not run on a store that has this migration.
 * `compatible`: it may.
 */
type MigrationKind = 'breaking' | 'compatible';

export type Migration = { number: number; name: string; kind: MigrationKind; sql: string };

type AppliedMigration = { number: number; name: string; kind: MigrationKind };

export type MigrationState = { applied: AppliedMigration[]; pending: Migration[] };

const shippedDirectory = fileURLToPath(new URL('../../../migrations/sqlite', import.meta.url));

/**
 * The numbered files of a directory, in order. The first line of each says its kind:
 * `-- compatible` or `-- breaking`.
 */
export function readMigrations(directory: string = shippedDirectory): Migration[] {
  const migrations = readdirSync(directory)
    .filter((file) => /^\d{4}_.+\.sql$/.test(file))
    .sort()
    .map((file) => parseMigration(file, readFileSync(`${directory}/${file}`, 'utf8')));
  for (const [index, { number, name }] of migrations.entries())
    if (migrations[index - 1]?.number === number)
      throw new Error(`two migrations have the number of ${name}`);
  return migrations;
}

function parseMigration(file: string, sql: string): Migration {
  const kind = /^-- (breaking|compatible)\n/.exec(sql)?.[1];
  if (!kind) throw new Error(`${file} must start with "-- compatible" or "-- breaking"`);
  return {
    number: Number(file.slice(0, 4)),
    name: file.slice(0, -'.sql'.length),
    kind: kind as MigrationKind,
    sql,
  };
}

/** Which migrations the store has, and which it lacks. Changes nothing. @throws {store-unavailable} */
export function readMigrationState(
  database: Database,
  migrations: Migration[] = readMigrations(),
): MigrationState {
  const applied = readApplied(database);
  const numbers = new Set(applied.map(({ number }) => number));
  return { applied, pending: migrations.filter(({ number }) => !numbers.has(number)) };
}

function readApplied(database: Database): AppliedMigration[] {
  return guard(() => {
    const exists = database.handle
      .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'")
      .get();
    if (!exists) return [];
    return database.handle
      .prepare<[], AppliedMigration>('SELECT number, name, kind FROM migration ORDER BY number')
      .all();
  });
}

export type MigrateDeps = { database: Database; log: Log; now?: () => number };

/**
 * Brings the store to the newest schema, each migration in a transaction of its own. Safe to run
 * from several processes at once, and again. Answers what it applied itself.
 * @throws {store-unavailable} also when a newer Trackport left a breaking migration
 */
export function migrate(
  { database, log, now = Date.now }: MigrateDeps,
  migrations: Migration[] = readMigrations(),
): Migration[] {
  refuseNewerSchema(readApplied(database), migrations, log);
  const { pending } = readMigrationState(database, migrations);
  if (pending.length === 0) return [];
  guard(() => database.handle.exec(MIGRATION_TABLE));
  return pending.filter((migration) => applyOne(database, migration, now()));
}

const MIGRATION_TABLE = `
  CREATE TABLE IF NOT EXISTS migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('breaking', 'compatible')),
    appliedAt INTEGER NOT NULL -- milliseconds since the Unix epoch
  ) STRICT`;

/** False when another migrator was first: its row, inserted before all else, refuses ours. */
function applyOne(database: Database, migration: Migration, now: number): boolean {
  try {
    database.transaction(() => {
      database.handle
        .prepare('INSERT INTO migration (number, name, kind, appliedAt) VALUES (?, ?, ?, ?)')
        .run(migration.number, migration.name, migration.kind, now);
      database.handle.exec(migration.sql);
    });
    return true;
  } catch (error) {
    const taken = isUniqueViolation(error) && hasMigration(database, migration.number);
    if (taken) return false;
    throw error;
  }
}

function hasMigration(database: Database, number: number): boolean {
  return readApplied(database).some((applied) => applied.number === number);
}

function refuseNewerSchema(applied: AppliedMigration[], known: Migration[], log: Log): void {
  const numbers = new Set(known.map(({ number }) => number));
  const newer = applied.filter(({ number }) => !numbers.has(number));
  const breaking = newer.find(({ kind }) => kind === 'breaking');
  if (breaking)
    throw new TrackportError('store-unavailable', {
      detail: `The store was changed by a newer Trackport (${breaking.name}). Run that version, or restore a backup from before.`,
    });
  for (const { name } of newer)
    log.warn({ migration: name }, 'the store was changed by a newer, compatible version');
}
