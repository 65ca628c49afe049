import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMigrations } from '#adapters/migrations.ts';
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
