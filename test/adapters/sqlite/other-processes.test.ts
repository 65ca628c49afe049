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

test('the log is emptied when it is large, and later while another process reads', async () => {
  const database = threadedDatabase();
  const path = database.handle.name;
  const log = (): number => statSync(`${path}-wal`).size;
  const megabyte = async (): Promise<void> => {
    const changes = JSON.stringify('x'.repeat(1024 * 1024));
    const sql = `INSERT INTO audit (at, actor_kind, actor_subject, action, subject, changes)
      VALUES (1, 'cli', 'x', 'key.create', 'x', @changes)`;
    await database.run(sql, { changes });
  };
  let largest = 0;
  for (let count = 0; count < 40; count += 1) {
    await megabyte();
    largest = Math.max(largest, log());
  }
  expect(largest).toBeLessThan(20 * 1024 * 1024);
  const other = connectTo(path).handle;
  other.exec('BEGIN');
  other.prepare('SELECT count(*) FROM audit').get();
  for (let count = 0; count < 20; count += 1) await megabyte();
  expect(log()).toBeGreaterThan(16 * 1024 * 1024);
  other.exec('COMMIT');
  for (let count = 0; count < 20; count += 1) await megabyte();
  expect(log()).toBeLessThan(20 * 1024 * 1024);
});
