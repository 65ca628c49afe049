import { describe, expect, test } from 'vitest';
import type { Statements } from '#shared/database.ts';
import { rowsInto } from '#shared/sql.ts';
import { temporaryPostgres } from '../support/postgres/database.ts';
import { temporaryDatabase } from '../support/stores.ts';

const ODD = rowsInto('odd', 'id bigint, text_there text, bytes bytea, is_set boolean, at bigint');

describe.each<[string, () => Promise<Statements>]>([
  ['SQLite', async () => temporaryDatabase()],
  ['PostgreSQL', temporaryPostgres],
])('a session on %s', (_engine, open) => {
  test('takes rows of odd values at once', async () => {
    const session = await open();
    await session.exec(
      'CREATE TABLE odd (id bigint, text_there text, bytes bytea, is_set boolean, at bigint)',
    );
    const rows = [
      { id: 1, textThere: 'a"\\\n\u2028é😀', bytes: Buffer.from([0, 255, 92]), isSet: true, at: 7 },
      { id: 2, textThere: undefined, bytes: undefined, isSet: false, at: 0 },
      { id: 3, textThere: "a\0b', '{}", bytes: Buffer.alloc(0), isSet: true },
    ];

    await session.insert(ODD, rows);

    expect(await session.all<object>('SELECT * FROM odd ORDER BY id')).toEqual([
      rows[0],
      { id: 2, isSet: false, at: 0 },
      { id: 3, textThere: "a\uFFFDb', '{}", bytes: Buffer.alloc(0), isSet: true },
    ]);
    const found = 'SELECT id FROM odd WHERE text_there = ANY(@texts::text[])';
    expect(await session.all(found, { texts: ["a\0b', '{}"] })).toEqual([{ id: 3 }]);
  });
});
