import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { migrate, readMigrationState } from '#adapters/sqlite/migrate.ts';
import { type Log, silentLog } from '#shared/log.ts';
import type { Migration } from '#shared/store/migrations.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { connectTo } from '../../support/stores.ts';

const first: Migration = migration(1, 'CREATE TABLE a (x)');
const second: Migration = migration(2, 'CREATE TABLE b (x)');
const log = silentLog;

function migration(number: number, sql: string, kind: Migration['kind'] = 'compatible'): Migration {
  return { number, name: `000${number}_test`, kind, sql };
}

function empty(): Database {
  return connectTo(path.join(temporaryFolder(), 'trackport.db'));
}

function tablesOf({ handle }: Database): unknown[] {
  return handle
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all();
}

describe('the migrations of this version', () => {
  test('lead from nothing to the committed schema', async () => {
    const database = empty();
    migrate({ database, log });
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

  test('leave a sound database without broken references', () => {
    const database = empty();
    migrate({ database, log });
    expect(database.handle.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(database.handle.pragma('foreign_key_check')).toEqual([]);
  });
});

describe('migrating', () => {
  test('applies what is missing, in order, once', () => {
    const database = empty();
    expect(readMigrationState(database, [first, second])).toEqual({
      applied: [],
      pending: [first, second],
      unknown: [],
    });
    expect(migrate({ database, log }, [first])).toEqual([first]);
    expect(migrate({ database, log }, [first, second])).toEqual([second]);
    expect(migrate({ database, log }, [first, second])).toEqual([]);
    expect(tablesOf(database)).toEqual(['a', 'b', 'migration']);
  });

  test('keeps the migrations before a broken one, and nothing of the broken one', () => {
    const database = empty();
    const broken = migration(2, 'CREATE TABLE c (x); CREATE NONSENSE');
    expect(() => migrate({ database, log }, [first, broken])).toThrow('syntax error');
    expect(tablesOf(database)).toEqual(['a', 'migration']);
    expect(readMigrationState(database, [first, broken]).pending).toEqual([broken]);
  });

  test('takes a migration that another process applied meanwhile as done', () => {
    const database = empty();
    migrate({ database, log }, [first]);
    const other = connectTo(database.handle.name);
    // The other process is faster: it applies the second migration after ours was found missing.
    const now = (): number => {
      migrate({ database: other, log }, [first, second]);
      return 1;
    };
    expect(migrate({ database, log, now }, [first, second])).toEqual([]);
    expect(tablesOf(database)).toEqual(['a', 'b', 'migration']);
  });

  test('refuses a store that a newer version broke for us, and changes nothing', () => {
    const database = empty();
    migrate({ database, log }, [first, migration(9, 'CREATE TABLE z (x)', 'breaking')]);
    expect(() => migrate({ database, log }, [first, second])).toThrow(
      expect.objectContaining({
        code: 'store-unavailable',
        detail: expect.stringMatching(/newer Trackport \(0009_test\)/),
      }),
    );
    expect(tablesOf(database)).toEqual(['a', 'migration', 'z']);
  });

  test('warns of a store that a newer, compatible version changed', () => {
    const database = empty();
    migrate({ database, log }, [first, migration(9, 'CREATE TABLE z (x)')]);
    const warnings: unknown[] = [];
    const listening: Log = { ...silentLog, warn: (fields) => warnings.push(fields) };
    expect(migrate({ database, log: listening }, [first, second])).toEqual([second]);
    expect(warnings).toEqual([{ migration: '0009_test' }]);
  });
});
