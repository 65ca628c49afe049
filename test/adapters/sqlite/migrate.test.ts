import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LocalDatabase } from '#adapters/sqlite/database.ts';
import { type Log, silentLog } from '#shared/log.ts';
import {
  applyMigrations,
  type Migration,
  readMigrationState,
  shippedMigrations,
} from '#adapters/migrations.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { connectTo } from '../../support/stores.ts';

const first: Migration = migration(1, 'CREATE TABLE a (x)');
const second: Migration = migration(2, 'CREATE TABLE b (x)');
const log = silentLog;

function migration(number: number, sql: string, kind: Migration['kind'] = 'compatible'): Migration {
  return { number, name: `000${number}_test`, kind, sql };
}

function empty(): LocalDatabase {
  return connectTo(path.join(temporaryFolder(), 'trackport.db'));
}

function tablesOf({ handle }: LocalDatabase): unknown[] {
  return handle
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all();
}

describe('the migrations of this version', () => {
  test('lead from nothing to the committed schema', async () => {
    const database = empty();
    await applyMigrations({ database, log }, shippedMigrations('sqlite'));
    const schema = database.handle
      .prepare(
        "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name",
      )
      .pluck()
      .all();
    // After a new migration: npm test -- test/adapters/sqlite/migrate.test.ts -u
    await expect(`${schema.join('\n\n')}\n`).toMatchFileSnapshot(
      '../../../migrations/sqlite/schema.sql',
    );
  });

  test('leave a sound database without broken references', async () => {
    const database = empty();
    await applyMigrations({ database, log }, shippedMigrations('sqlite'));
    expect(database.handle.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(database.handle.pragma('foreign_key_check')).toEqual([]);
  });
});

describe('migrating', () => {
  test('applies what is missing, in order, once', async () => {
    const database = empty();
    expect(await readMigrationState(database, [first, second])).toEqual({
      applied: [],
      pending: [first, second],
      unknown: [],
    });
    expect(await applyMigrations({ database, log }, [first])).toEqual([first]);
    expect(await applyMigrations({ database, log }, [first, second])).toEqual([second]);
    expect(await applyMigrations({ database, log }, [first, second])).toEqual([]);
    expect(tablesOf(database)).toEqual(['a', 'b', 'migration']);
  });

  test('keeps the migrations before a broken one, and nothing of the broken one', async () => {
    const database = empty();
    const broken = migration(2, 'CREATE TABLE c (x); CREATE NONSENSE');
    await expect(applyMigrations({ database, log }, [first, broken])).rejects.toThrow(
      'syntax error',
    );
    expect(tablesOf(database)).toEqual(['a', 'migration']);
    const { pending } = await readMigrationState(database, [first, broken]);
    expect(pending).toEqual([broken]);
  });

  test('takes a migration that another process applied meanwhile as done', async () => {
    const database = empty();
    await applyMigrations({ database, log }, [first]);
    const other = connectTo(database.handle.name);
    // The other process is faster: it applies the second migration after ours was found missing.
    const late: LocalDatabase = {
      ...database,
      transaction: async (work) => {
        await applyMigrations({ database: other, log }, [first, second]);
        return database.transaction(work);
      },
    };
    expect(await applyMigrations({ database: late, log }, [first, second])).toEqual([]);
    expect(tablesOf(database)).toEqual(['a', 'b', 'migration']);
  });

  test('refuses a store that a newer version broke for us, and changes nothing', async () => {
    const database = empty();
    await applyMigrations({ database, log }, [
      first,
      migration(9, 'CREATE TABLE z (x)', 'breaking'),
    ]);
    await expect(applyMigrations({ database, log }, [first, second])).rejects.toThrow(
      expect.objectContaining({
        code: 'store-unavailable',
        detail: expect.stringMatching(/newer Trackport \(0009_test\)/),
      }),
    );
    expect(tablesOf(database)).toEqual(['a', 'migration', 'z']);
  });

  test('refuses a store with another beginning by its name, and changes nothing', async () => {
    const database = empty();
    await applyMigrations({ database, log }, [{ ...first, name: '0001_access' }]);
    await expect(applyMigrations({ database, log }, [first, second])).rejects.toThrow(
      expect.objectContaining({
        code: 'store-unavailable',
        detail: expect.stringMatching(/begins with 0001_access, and not with 0001_test/),
      }),
    );
    expect(tablesOf(database)).toEqual(['a', 'migration']);
  });

  test('warns of a store that a newer, compatible version changed', async () => {
    const database = empty();
    await applyMigrations({ database, log }, [first, migration(9, 'CREATE TABLE z (x)')]);
    const warnings: unknown[] = [];
    const listening: Log = { ...silentLog, warn: (fields) => warnings.push(fields) };
    expect(await applyMigrations({ database, log: listening }, [first, second])).toEqual([second]);
    expect(warnings).toEqual([{ migration: '0009_test' }]);
  });
});
