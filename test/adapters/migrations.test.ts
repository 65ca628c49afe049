import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyMigrations, readMigrations, shippedMigrations } from '#adapters/migrations.ts';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { silentLog } from '#shared/log.ts';
import { temporaryFolder } from '../support/folder.ts';

describe('reading migrations', () => {
  test('refuses a file that does not say whether it breaks older versions', () => {
    const directory = temporaryFolder();
    writeFileSync(path.join(directory, '0001_a.sql'), 'CREATE TABLE a (x)');
    expect(() => readMigrations(directory)).toThrow('"-- compatible" or "-- breaking"');
  });

  test('refuses two files with one number', () => {
    const directory = temporaryFolder();
    for (const name of ['0001_a.sql', '0001_b.sql'])
      writeFileSync(path.join(directory, name), '-- compatible\nSELECT 1');
    expect(() => readMigrations(directory)).toThrow('0001_b');
  });

  test('passes over other files', () => {
    const directory = temporaryFolder();
    writeFileSync(path.join(directory, 'schema.sql'), '');
    expect(readMigrations(directory)).toEqual([]);
  });
});

test('a store that is new is told of, once', async () => {
  const told: string[] = [];
  const log = { ...silentLog, info: (_fields: object, text: string) => void told.push(text) };
  const database = openDatabase({ path: path.join(temporaryFolder(), 'new.db') });
  for (let start = 1; start <= 2; start += 1)
    await applyMigrations({ database, log }, shippedMigrations('sqlite'));
  await database.close();
  expect(told).toEqual(['a new store was made']);
});
