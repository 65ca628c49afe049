import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Log } from '#shared/log.ts';
import { programUrl } from '#shared/program.ts';
import {
  type Database,
  type Reads,
  type Statements,
  StoreRefusal,
  unavailable,
} from '#shared/database.ts';
import { advisoryLocks, either } from '#shared/sql.ts';

/**
 * `breaking`: an older Trackport must not run on a store that has this migration.
 * `compatible`: it may.
 */
type MigrationKind = 'breaking' | 'compatible';

/** A step of a store's schema, in the words of its engine. */
export type Migration = { number: number; name: string; kind: MigrationKind; sql: string };

/** A migration that a store has. */
export type AppliedMigration = Omit<Migration, 'sql'>;

export type MigrationState = {
  applied: AppliedMigration[];
  pending: Migration[];
  /** Those that it has and this version does not know. */
  unknown: AppliedMigration[];
};

/** Those of this version. */
export function shippedMigrations(engine: 'postgres' | 'sqlite'): Migration[] {
  return readMigrations(fileURLToPath(programUrl(`migrations/${engine}`)));
}

/**
 * The numbered files of a directory, in order. The first line of each says its kind:
 * `-- compatible` or `-- breaking`.
 */
export function readMigrations(directory: string): Migration[] {
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

/** A file is one program's; a database may be shared. */
const FOUND = either(
  "SELECT to_regclass('migration') IS NOT NULL AS is_ours, false AS is_foreign",
  `SELECT count(*) FILTER (WHERE name = 'migration') > 0 AS is_ours, count(*) > 0 AS is_foreign
   FROM sqlite_schema WHERE type = 'table'`,
);

/** Every migration that the store has. @throws {store-unavailable} */
export async function readApplied(db: Reads): Promise<AppliedMigration[]> {
  const found = await db.get<{ isOurs: boolean; isForeign: boolean }>(FOUND);
  if (!found?.isOurs && found?.isForeign) throw otherStore('It has tables of another program');
  if (!found?.isOurs) return [];
  const rows = await db.all<AppliedMigration>('SELECT * FROM migration');
  return rows
    .map(({ number, name, kind }) => ({ number, name, kind }))
    .toSorted((left, right) => left.number - right.number);
}

/**
 * Compares the store's migrations with those that this version knows.
 * @throws {store-unavailable} also when it began with another one
 */
export async function readMigrationState(
  db: Reads,
  known: readonly Migration[],
): Promise<MigrationState> {
  const applied = await readApplied(db);
  const [began, beginning] = [applied[0]?.name, known[0]?.name];
  if (applied.length > 0 && began !== beginning)
    throw otherStore(`It begins with ${began ?? 'nothing known'}, and not with ${beginning}`);
  const numbersOf = (migrations: readonly AppliedMigration[]): Set<number> =>
    new Set(migrations.map(({ number }) => number));
  const [present, shipped] = [numbersOf(applied), numbersOf(known)];
  return {
    applied,
    pending: known.filter(({ number }) => !present.has(number)),
    unknown: applied.filter(({ number }) => !shipped.has(number)),
  };
}

function otherStore(what: string): StoreRefusal {
  return new StoreRefusal(
    `${what}: this version cannot work on it, and left it as it is. Name a new one in store.url, or run the program that made it.`,
  );
}

/**
 * Refuses a store that is not exactly of this version's schema: what nobody knows of is not copied.
 * @throws {store-unavailable}
 */
export async function refuseOtherSchema(
  db: Statements,
  known: readonly Migration[],
): Promise<void> {
  const { applied, pending, unknown } = await readMigrationState(db, known);
  const [newer, lacking] = [unknown[0], pending[0]];
  if (applied.length === 0) throw unavailable('The store has nothing of Trackport in it.');
  if (newer)
    throw unavailable(
      `The store was changed by a newer Trackport (${newer.name}). Use that version for it.`,
    );
  if (lacking)
    throw unavailable(
      `The store has an older schema (${lacking.name} is missing). Run \`trackport migrate\` on it first.`,
    );
}

/**
 * Warns of migrations of a newer Trackport that this one can live with.
 * @throws {store-unavailable} it cannot
 */
function refuseNewerSchema({ unknown }: MigrationState, log: Log): void {
  const breaking = unknown.find(({ kind }) => kind === 'breaking');
  if (breaking)
    throw unavailable(
      `The store was changed by a newer Trackport (${breaking.name}). Run that version, or restore a backup from before.`,
    );
  for (const { name } of unknown)
    log.warn({ migration: name }, 'the store was changed by a newer, compatible version');
}

/**
 * Brings the store to the newest schema, each migration in a transaction of its own. Safe to run
 * from several processes at once, and again. Returns what it applied itself.
 * @throws {store-unavailable} also when a newer Trackport left a breaking migration
 */
export async function applyMigrations(
  { database, log }: { database: Database; log: Log },
  known: readonly Migration[],
): Promise<Migration[]> {
  const state = await readMigrationState(database, known);
  refuseNewerSchema(state, log);
  const done: Migration[] = [];
  for (const migration of state.pending)
    if (await database.transaction((tx) => applyOne(tx, migration))) done.push(migration);
  if (state.applied.length === 0 && done.length > 0) log.info({}, 'a new store was made');
  return done;
}

/** Migrators take turns. No statement of theirs is too long. */
const BEGIN = either(
  `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
  SELECT pg_advisory_xact_lock(${advisoryLocks.migrations})`,
  'SELECT 1',
);

const MIGRATION_TABLE = `
  CREATE TABLE IF NOT EXISTS migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('breaking', 'compatible')),
    applied_at bigint NOT NULL -- milliseconds since the Unix epoch
  )`;

/** False when another migrator was first. */
async function applyOne(db: Statements, migration: Migration): Promise<boolean> {
  const { number, name, kind, sql } = migration;
  await db.exec(BEGIN);
  await db.exec(MIGRATION_TABLE);
  const isNew = await db.run(
    'INSERT INTO migration VALUES (@number, @name, @kind, @now) ON CONFLICT (number) DO NOTHING',
    { number, name, kind, now: Date.now() },
  );
  if (isNew === 0) return false;
  await db.exec(sql);
  return true;
}
