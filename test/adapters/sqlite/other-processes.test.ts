import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import type { Statements } from '#shared/database.ts';
import { connectTo, temporaryDatabase, threadedDatabase } from '../../support/stores.ts';

const PUT = 'UPDATE write_check SET filler = zeroblob(@at)';
const read = (database: Pick<Statements, 'get'>) =>
  database.get('SELECT length(filler) AS at FROM write_check');

const engines: [string, () => SqliteDatabase | Promise<SqliteDatabase>][] = [
  ['in this thread', temporaryDatabase],
  ['in a thread of its own', threadedDatabase],
];

describe.each(engines)('a transaction %s', (_name, open) => {
  test('that reads first is made once while nobody else writes, also the first of all', async () => {
    const database = await open();
    let runs = 0;
    await database.transaction(async (tx) => {
      runs += 1;
      await read(tx);
      await tx.run(PUT, { at: 1 });
    });
    expect(runs).toBe(1);
  });

  test('that decides by what another process changes meanwhile decides anew, once', async () => {
    const database = await open();
    const other = connectTo(database.handle.name);
    await database.run(PUT, { at: 1 });
    let runs = 0;
    const count = (tx: Statements) =>
      tx.get<{ at: number }>('SELECT length(filler) AS at FROM write_check');
    const seen = await database.transaction(async (tx) => {
      runs += 1;
      const before = await count(tx);
      if (runs === 1) await other.run(PUT, { at: 10 });
      await tx.run('UPDATE write_check SET filler = zeroblob(length(filler) + 1)');
      return [before, await count(tx)];
    });
    expect(seen).toEqual([{ at: 10 }, { at: 11 }]);
    expect(runs).toBe(2);
  });

  test('decides anew also when it makes a failure of its own of that', async () => {
    const database = await open();
    const other = connectTo(database.handle.name);
    let runs = 0;
    await database.transaction(async (tx) => {
      runs += 1;
      await read(tx);
      if (runs === 1) await other.run(PUT, { at: 10 });
      await tx.run(PUT, { at: 1 }).catch(() => {
        throw new Error('of its own');
      });
    });
    expect([runs, await read(database)]).toEqual([2, { at: 1 }]);
  });

  test('that only reads sees one moment, also while another process writes', async () => {
    const database = await open();
    const other = connectTo(database.handle.name);
    let runs = 0;
    const seen = await database.transaction(async (tx) => {
      runs += 1;
      const before = await read(tx);
      if (runs === 1) await other.run(PUT, { at: 10 });
      return [before, await read(tx)];
    });
    expect(seen).toEqual([{ at: 10 }, { at: 10 }]);
  });

  test('is not committed when it passes over a read that failed', async () => {
    const database = await open();
    const passing = database.transaction(async (tx) => {
      await tx.get('SELECT missing FROM write_check').catch(() => undefined);
      await tx.run(PUT, { at: 1 });
    });
    await expect(passing).rejects.toThrow('no such column');
    expect(await read(database)).toEqual({ at: 0 });
  });
});

test('the log begins anew in its file, is cut off when that is long, and later while another process reads', async () => {
  const database = threadedDatabase();
  const path = database.handle.name;
  const megabytes = (): number => statSync(`${path}-wal`).size / 1024 / 1024;
  const changes = JSON.stringify('x'.repeat(4 * 1024 * 1024));
  const sql = `INSERT INTO audit (at, actor_kind, actor_subject, action, subject, changes)
    VALUES (1, 'cli', 'x', 'key.create', 'x', @changes)`;
  const writeMegabytes = async (count: number): Promise<number[]> => {
    const lengths: number[] = [];
    for (let written = 0; written < count; written += 4) {
      await database.run(sql, { changes });
      lengths.push(megabytes());
    }
    return lengths;
  };
  expect(Math.max(...(await writeMegabytes(36)))).toBeLessThan(24);
  const lengths = await writeMegabytes(200);
  expect(Math.max(...lengths)).toBeLessThan(80);
  expect(lengths.at(-1)).toBeLessThan(64);
  const other = connectTo(path).handle;
  other.exec('BEGIN');
  other.prepare('SELECT count(*) FROM audit').get();
  await writeMegabytes(100);
  expect(megabytes()).toBeGreaterThan(64);
  other.exec('COMMIT');
  await writeMegabytes(24);
  expect(megabytes()).toBeLessThan(24);
});

test('after many small commits the log begins anew', async () => {
  const database = threadedDatabase();
  const path = database.handle.name;
  const sql = 'UPDATE claim_version SET version = version + 1';
  const write = async (count: number): Promise<number> => {
    for (let written = 0; written < count; written += 1) await database.run(sql);
    return statSync(`${path}-wal`).size;
  };
  await write(250);
  expect(await write(500)).toBe(await write(500));
});
