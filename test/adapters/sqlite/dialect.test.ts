import { expect, test } from 'vitest';
import { toSqlite } from '#adapters/sqlite/statements.ts';
import { toRecords } from '#shared/sql.ts';
import { temporaryDatabase } from '../../support/stores.ts';

test.each([
  ['SELECT @a::text IS NULL, @b::text[]', 'SELECT @a IS NULL, @b'],
  ['SELECT 1 FROM t WHERE a = @a FOR UPDATE SKIP LOCKED', 'SELECT 1 FROM t WHERE a = @a '],
  ['SELECT 1 FROM t FOR KEY SHARE', 'SELECT 1 FROM t '],
  ['SELECT greatest(a, least(b, c)) FROM t', 'SELECT max(a, min(b, c)) FROM t'],
  ['SELECT 1 FROM t /*sqlite INDEXED BY i*/ WHERE a', 'SELECT 1 FROM t INDEXED BY i WHERE a'],
  ['a = ANY(@list::bigint[])', 'a IN (SELECT value FROM json_each(@list))'],
  ['NOTIFY a_channel', 'SELECT 1'],
])('%s', (written, read) => {
  expect(toSqlite(written)).toBe(read);
});

test('lists of values and of records are read, and columns come in camel case', async () => {
  const database = temporaryDatabase();
  const sql = `
    SELECT given.last_at, given.name FROM jsonb_to_recordset(@rows) AS given (name text, last_at bigint)
    WHERE given.name = ANY(@names) ORDER BY given.last_at::bigint`;
  const rows = toRecords([
    { name: 'b', lastAt: 2 },
    { name: 'a', lastAt: 1 },
    { name: 'c', lastAt: 3 },
  ]);
  expect(await database.all(sql, { rows, names: ['a', 'b'], other: undefined })).toEqual([
    { lastAt: 1, name: 'a' },
    { lastAt: 2, name: 'b' },
  ]);
});
