import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { type PostgresDatabase, openDatabase } from '#adapters/postgres/database.ts';
import { newUuid } from '#shared/ids.ts';
import { databasePrefix } from './global-setup.ts';
import { type RunServer, withDatabase } from './template.ts';

/** A database of one test on the run's PostgreSQL server. */
export type TestDatabase = { url: string };

/** The run's server. */
export async function findServer(): Promise<RunServer> {
  const socket = connect(inject('postgresDoor'), '127.0.0.1');
  const answer = JSON.parse(await text(socket)) as RunServer | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

export async function onServer(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The run's databases begin with `databasePrefix`: what is left of them goes at its end. */
export const newName = (): string =>
  `${databasePrefix(inject('postgresDoor'))}${newUuid().replaceAll('-', '')}`;

/** An empty database, dropped when the running test ends. */
export async function emptyPostgres(): Promise<TestDatabase> {
  const { url } = await findServer();
  const name = newName();
  await onServer(url, `CREATE DATABASE ${name} TEMPLATE template0`);
  cleanPostgres({ url }, [`DROP DATABASE ${name} WITH (FORCE)`]);
  return { url: withDatabase(url, name) };
}

/** Runs statements on a server when the running test ends, whatever became of it. */
export function cleanPostgres({ url }: TestDatabase, statements: readonly string[]): void {
  onTestFinished(async () => {
    for (const statement of statements) await onServer(url, statement);
  });
}

type FreeDatabase = { url: string; form: unknown; emptying: string };

/** Databases of this process that no test has at the moment, as new. */
const free: FreeDatabase[] = [];

/**
 * A database with the newest schema and nothing in it, for the running test alone. The next test gets it, unless
 * this one changed its schema or its settings.
 */
export async function migratedPostgres(): Promise<TestDatabase> {
  const database = free.pop() ?? (await makeDatabase());
  const { url, form, emptying } = database;
  onTestFinished(async () => {
    const [left] = await onServer(url, FORM);
    if (!isDeepStrictEqual(left, form)) return;
    await onServer(url, `${emptying}; ${BEGIN_ANEW}`);
    free.push(database);
  });
  return { url };
}

async function makeDatabase(): Promise<FreeDatabase> {
  const { url: server, template } = await findServer();
  const name = newName();
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = withDatabase(server, name);
  const [form] = await onServer(url, FORM);
  const [made] = (await onServer(url, EMPTYING)) as { sql: string }[];
  return { url, form, emptying: made?.sql ?? '' };
}

/** Everything beside rows: relations, columns, constraints, triggers, functions, schemas, settings. */
const FORM = `SELECT
  (SELECT json_agg(relname ORDER BY oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS relations,
  (SELECT json_agg(attname ORDER BY attrelid, attnum) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace) AS columns,
  (SELECT json_agg(conname ORDER BY conname) FROM pg_constraint) AS constraints,
  (SELECT json_agg(tgname || tgenabled::text ORDER BY oid) FROM pg_trigger) AS triggers,
  (SELECT count(*) FROM pg_proc) AS functions,
  (SELECT json_agg(nspname ORDER BY nspname) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp') AS schemas,
  (SELECT json_agg(setconfig) FROM pg_db_role_setting WHERE setdatabase = d.oid) AS settings,
  datconnlimit AS limit
  FROM pg_database d WHERE datname = current_database()`;

/** Writes a statement that empties all tables but those that a new store has rows in. It may refer to them in any order. */
const EMPTYING = `
  SELECT 'WITH ' || string_agg(format('%I AS (DELETE FROM %1$I)', relname), ', ') || ' SELECT 1' AS sql
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname NOT IN ('access_version', 'claim_version', 'worker_lease', 'write_check', 'migration')`;

/** Afterwards: to empty a few rows takes a small part of the time that making a database does. */
const BEGIN_ANEW = `
  UPDATE access_version SET version = 1;
  UPDATE claim_version SET version = 1, withdrawn = 0;
  UPDATE worker_lease SET holder = NULL, until = '-infinity';
  SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
  FROM pg_sequences WHERE schemaname = current_schema()`;

/** A connection pool of its own, as another instance would have it; closed when the test ends. */
export async function connectToPostgres({ url }: TestDatabase): Promise<PostgresDatabase> {
  const database = openDatabase({ url });
  onTestFinished(() => database.close());
  return database;
}

/** A migrated database of its own with a pool on it; closed and dropped when the test ends. */
export async function temporaryPostgres(): Promise<PostgresDatabase> {
  return connectToPostgres(await migratedPostgres());
}
