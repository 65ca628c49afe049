import { describe, expect, test } from 'vitest';
import type { PostgresDatabase } from '#adapters/postgres/database.ts';
import type { Statements } from '#shared/database.ts';
import { migrate } from '#adapters/postgres/server.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { type Migration, readMigrationState } from '#adapters/migrations.ts';
import {
  cleanPostgres,
  connectToPostgres,
  emptyPostgres,
} from '../../support/postgres/database.ts';

const first: Migration = migration(1, 'CREATE TABLE a (x integer)');
const second: Migration = migration(2, 'CREATE TABLE b (x integer)');
const log = silentLog;

function migration(number: number, sql: string, kind: Migration['kind'] = 'compatible'): Migration {
  return { number, name: `000${number}_test`, kind, sql };
}

async function empty(): Promise<PostgresDatabase> {
  return connectToPostgres(await emptyPostgres());
}

async function namesOf(session: Statements, sql: string): Promise<string[]> {
  return (await session.all<{ name: string }>(sql)).map(({ name }) => name);
}

const tablesIn = (session: Statements, schema: string): Promise<string[]> =>
  namesOf(
    session,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}' ORDER BY tablename`,
  );

const tablesOf = (session: Statements): Promise<string[]> => tablesIn(session, 'public');

/** Every column, constraint, index, trigger and function, as the server itself writes them. */
const SCHEMA = `
  SELECT format('%s.%s %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    (SELECT format(' COLLATE %I', collname) FROM pg_collation o
     WHERE o.oid = a.attcollation AND a.attcollation <> 100),
    CASE WHEN a.attnotnull THEN ' NOT NULL' END,
    CASE WHEN a.attidentity <> '' THEN ' IDENTITY' ELSE (SELECT CASE WHEN a.attgenerated = 's'
        THEN ' STORED AS ' ELSE ' DEFAULT ' END || pg_get_expr(d.adbin, d.adrelid)
      FROM pg_attrdef d WHERE d.adrelid = c.oid AND d.adnum = a.attnum) END) AS name
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
    AND NOT a.attisdropped
  UNION ALL
  SELECT format('%s: %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
  UNION ALL
  SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL
  SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL
  SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  ORDER BY 1`;

describe('the migrations of this version', () => {
  test('lead from nothing to the committed schema', async () => {
    const database = await empty();
    await migrate({ database, log });
    const schema = (await namesOf(database, SCHEMA)).sort();
    // After a new migration: npm test -- test/adapters/postgres/migrate.test.ts -u
    await expect(`${schema.join('\n')}\n`).toMatchFileSnapshot(
      '../../../migrations/postgres/schema.txt',
    );
  });
});

describe('migrating', () => {
  test('applies what is missing, in order, once', async () => {
    const database = await empty();
    expect(await readMigrationState(database, [first, second])).toEqual({
      applied: [],
      pending: [first, second],
      unknown: [],
    });
    expect(await migrate({ database, log }, [first])).toEqual([first]);
    expect(await migrate({ database, log }, [first, second])).toEqual([second]);
    expect(await migrate({ database, log }, [first, second])).toEqual([]);
    expect(await tablesOf(database)).toEqual(['a', 'b', 'migration']);
  });

  test('keeps the migrations before a broken one, and nothing of the broken one', async () => {
    const database = await empty();
    const broken = migration(2, 'CREATE TABLE c (x integer); CREATE NONSENSE');
    await expect(migrate({ database, log }, [first, broken])).rejects.toThrow('syntax error');
    expect(await tablesOf(database)).toEqual(['a', 'migration']);
    const { pending } = await readMigrationState(database, [first, broken]);
    expect(pending).toEqual([broken]);
  });

  test('of several processes at once applies each migration once', async () => {
    const own = await emptyPostgres();
    const processes = await Promise.all([1, 2, 3, 4].map(() => connectToPostgres(own)));
    const applied = await Promise.all(
      processes.map((database) => migrate({ database, log }, [first, second])),
    );
    expect(applied.flat().toSorted((left, right) => left.number - right.number)).toEqual([
      first,
      second,
    ]);
  });

  test('refuses a store that a newer version broke for us, and changes nothing', async () => {
    const database = await empty();
    const newer = migration(9, 'CREATE TABLE z (x integer)', 'breaking');
    await migrate({ database, log }, [first, newer]);
    await expect(migrate({ database, log }, [first, second])).rejects.toMatchObject({
      code: 'store-unavailable',
      detail: expect.stringMatching(/newer Trackport \(0009_test\)/),
    });
    expect(await tablesOf(database)).toEqual(['a', 'migration', 'z']);
  });

  test.each(['0001_access', undefined])(
    'refuses a store with another beginning (%s), and changes nothing',
    async (name) => {
      const database = await empty();
      if (name === undefined) await database.exec('CREATE TABLE migration (id integer, run text)');
      else await migrate({ database, log }, [{ ...first, name }]);
      if (name === undefined) await database.exec("INSERT INTO migration VALUES (1, 'x')");
      const before = await tablesOf(database);
      await expect(migrate({ database, log }, [first, second])).rejects.toMatchObject({
        code: 'store-unavailable',
        detail: expect.stringMatching(`begins with ${name ?? 'nothing known'}`),
      });
      expect(await tablesOf(database)).toEqual(before);
    },
  );

  test('refuses a database in which not every name can be stored', async () => {
    const own = await emptyPostgres();
    const admin = await connectToPostgres(own);
    const name = `${new URL(own.url).pathname.slice(1)}_latin1`;
    await admin.exec(`CREATE DATABASE ${name} TEMPLATE template0
      ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' LOCALE_PROVIDER libc`);
    cleanPostgres(own, [`DROP DATABASE ${name} WITH (FORCE)`]);
    const url = new URL(own.url);
    url.pathname = `/${name}`;
    const database = await connectToPostgres({ url: url.href });
    await expect(migrate({ database, log }, [first])).rejects.toMatchObject({
      code: 'store-unavailable',
      detail: expect.stringContaining('The database is in LATIN1'),
    });
    expect(await tablesOf(database)).toEqual([]);
  });

  test('warns of a store that a newer, compatible version changed', async () => {
    const database = await empty();
    await migrate({ database, log }, [first, migration(9, 'CREATE TABLE z (x integer)')]);
    const warnings: unknown[] = [];
    const listening: Log = { ...silentLog, warn: (fields) => warnings.push(fields) };
    expect(await migrate({ database, log: listening }, [first, second])).toEqual([second]);
    expect(warnings).toEqual([{ migration: '0009_test' }]);
  });

  test('makes no second store beside one that is only not in the search_path', async () => {
    const own = await emptyPostgres();
    const database = await connectToPostgres(own);
    await migrate({ database, log });
    const name = new URL(own.url).pathname.slice(1);
    await database.exec(`CREATE SCHEMA other; ALTER DATABASE ${name} SET search_path = other`);
    const lost = await connectToPostgres(own);
    await expect(migrate({ database: lost, log })).rejects.toMatchObject({
      code: 'store-unavailable',
      detail: expect.stringMatching(/tables are in the schema public, .* search_path/),
    });
    expect(await tablesIn(database, 'other')).toEqual([]);
  });
});
