import { readdirSync, readFileSync } from 'node:fs';
import { TrackportError } from './errors.ts';
import type { Log } from './log.ts';

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
export type MigrationState = { applied: AppliedMigration[]; pending: Migration[] };

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

/** Those of `known` that are not among `applied` yet, in order. */
export function pendingMigrations(applied: AppliedMigration[], known: Migration[]): Migration[] {
  const numbers = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !numbers.has(number));
}

/**
 * Warns of migrations of a newer Trackport that this one can live with.
 * @throws {store-unavailable} it cannot
 */
export function refuseNewerSchema(applied: AppliedMigration[], known: Migration[], log: Log): void {
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
