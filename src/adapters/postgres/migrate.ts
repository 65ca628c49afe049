import { fileURLToPath } from 'node:url';
import { TrackportError } from '#shared/errors.ts';
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
import type { Database, Session } from './connection/database.ts';
import { LOCK_FOR_MIGRATION } from './locks.ts';

const shippedDirectory = fileURLToPath(programUrl('migrations/postgres'));

/** The oldest major version that the tests are run on. */
const OLDEST_MAJOR = 15;

/** Which migrations the store has, and which it lacks. Changes nothing. @throws {store-unavailable} */
export async function readMigrationState(
  database: Session,
  migrations: Migration[] = readMigrations(shippedDirectory),
): Promise<MigrationState> {
  return toMigrationState(await readApplied(database), migrations);
}

async function readApplied(database: Session): Promise<AppliedMigration[]> {
  const found = await database.get<{ isThere: boolean }>(
    "SELECT to_regclass('migration') IS NOT NULL AS is_there",
  );
  if (!found?.isThere) return [];
  return database.all('SELECT number, name, kind FROM migration ORDER BY number');
}

export type MigrateDeps = { database: Database; log: Log; now?: () => number };

/**
 * Brings the store to the newest schema, each migration in a transaction of its own. Safe to run
 * from several processes at once, and again. Returns what it applied itself.
 * @throws {store-unavailable} also when a newer Trackport left a breaking migration
 */
export async function migrate(
  { database, log, now = Date.now }: MigrateDeps,
  migrations: Migration[] = readMigrations(shippedDirectory),
): Promise<Migration[]> {
  await refuseUnfitServer(database);
  const state = await readMigrationState(database, migrations);
  if (state.applied.length === 0) await refuseHidden(database);
  refuseNewerSchema(state, log);
  const done: Migration[] = [];
  for (const migration of state.pending)
    if (await applyOne(database, migration, now())) done.push(migration);
  return done;
}

const SERVER = `
  SELECT current_setting('server_version_num')::integer / 10000 AS version,
    current_setting('server_encoding') AS encoding`;

/** In another encoding a delivery with a name that has no place in it could never be stored. */
async function refuseUnfitServer(database: Session): Promise<void> {
  const server = await database.get<{ version: number; encoding: string }>(SERVER);
  if (server && server.version < OLDEST_MAJOR)
    throw new TrackportError('store-unavailable', {
      detail: `The store is PostgreSQL ${server.version}: Trackport needs ${OLDEST_MAJOR} or newer.`,
    });
  if (server && server.encoding !== 'UTF8')
    throw new TrackportError('store-unavailable', {
      detail: `The database is in ${server.encoding}: Trackport needs one in UTF-8 (createdb --encoding UTF8 --template template0).`,
    });
}

const HIDDEN = `
  SELECT relnamespace::regnamespace::text AS schema FROM pg_class WHERE relname = 'claim_version'`;

/** A second store beside one that is only not found would know of no deletion. */
async function refuseHidden(database: Session): Promise<void> {
  const found = await database.get<{ schema: string }>(HIDDEN);
  if (found)
    throw new TrackportError('store-unavailable', {
      detail: `Its tables are in the schema ${found.schema}, which is not in the search_path of its user (ALTER ROLE … SET search_path).`,
    });
}

const MIGRATION_TABLE = `
  CREATE TABLE IF NOT EXISTS migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('breaking', 'compatible')),
    applied_at bigint NOT NULL -- milliseconds since the Unix epoch
  )`;

/** False when another migrator was first: one waits for the other, and then finds its row. */
function applyOne(database: Database, migration: Migration, now: number): Promise<boolean> {
  return database.transaction(async (session) => {
    await session.exec('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0');
    await session.get(LOCK_FOR_MIGRATION);
    await session.exec(MIGRATION_TABLE);
    const { number, name, kind, sql } = migration;
    const isNew = await session.run(
      `INSERT INTO migration (number, name, kind, applied_at) VALUES (@number, @name, @kind, @now)
       ON CONFLICT (number) DO NOTHING`,
      { number, name, kind, now },
    );
    if (isNew === 0) return false;
    await session.exec(sql);
    return true;
  });
}
