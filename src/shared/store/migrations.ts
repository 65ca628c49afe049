import { readdirSync, readFileSync } from 'node:fs';
import { TrackportError } from '../errors.ts';
import type { Log } from '../log.ts';

/**
 * `breaking`: an older Trackport must not run on a store that has this migration.
 * `compatible`: it may.
 */
type MigrationKind = 'breaking' | 'compatible';

/** A step of a store's schema, in the words of its engine. */
export type Migration = { number: number; name: string; kind: MigrationKind; sql: string };

/** A migration that a store has. */
export type AppliedMigration = Omit<Migration, 'sql'>;

/** Which migrations a store has, and which it lacks. */
export type MigrationState = {
  applied: AppliedMigration[];
  pending: Migration[];
  /** Those that it has and this version does not know. */
  unknown: AppliedMigration[];
};

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

/** How a store that has `applied` stands to the migrations that this version knows. */
export function toMigrationState(
  applied: AppliedMigration[],
  known: readonly Migration[],
): MigrationState {
  const numbersOf = (migrations: readonly AppliedMigration[]): Set<number> =>
    new Set(migrations.map(({ number }) => number));
  const [present, shipped] = [numbersOf(applied), numbersOf(known)];
  return {
    applied,
    pending: known.filter(({ number }) => !present.has(number)),
    unknown: applied.filter(({ number }) => !shipped.has(number)),
  };
}

/**
 * Refuses a store that is not exactly of this version's schema: what nobody knows of is not copied.
 * @throws {store-unavailable}
 */
export function refuseOtherSchema({ applied, pending, unknown }: MigrationState): void {
  const refuseSchema = (detail: string): never => {
    throw new TrackportError('store-unavailable', { detail });
  };
  const [newer, lacking] = [unknown[0], pending[0]];
  if (applied.length === 0) refuseSchema('The store has nothing of Trackport in it.');
  if (newer)
    refuseSchema(
      `The store was changed by a newer Trackport (${newer.name}). Use that version for it.`,
    );
  if (lacking)
    refuseSchema(
      `The store has an older schema (${lacking.name} is missing). Run \`trackport migrate\` on it first.`,
    );
}

/**
 * Warns of migrations of a newer Trackport that this one can live with.
 * @throws {store-unavailable} it cannot
 */
export function refuseNewerSchema({ unknown }: Pick<MigrationState, 'unknown'>, log: Log): void {
  const breaking = unknown.find(({ kind }) => kind === 'breaking');
  if (breaking)
    throw new TrackportError('store-unavailable', {
      detail: `The store was changed by a newer Trackport (${breaking.name}). Run that version, or restore a backup from before.`,
    });
  for (const { name } of unknown)
    log.warn({ migration: name }, 'the store was changed by a newer, compatible version');
}
