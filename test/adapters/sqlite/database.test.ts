import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { type LocalDatabase, openDatabase } from '#adapters/sqlite/database.ts';
import { guard } from '#adapters/sqlite/errors.ts';
import { MINUTE } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';
import { createConsumer } from '#access/consumers/manage-consumers.ts';
import { consumersIn } from '../../support/consumers.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { bytesInFiles, connectTo, temporaryDatabase } from '../../support/stores.ts';

const unavailable = (detail: RegExp): unknown =>
  expect.objectContaining({
    code: 'store-unavailable',
    detail: expect.stringMatching(detail),
    retryAfterSeconds: 1,
  });

function withTable(): LocalDatabase {
  const database = connectTo(path.join(temporaryFolder(), 'a', 'b', 'trackport.db'));
  database.handle.exec('CREATE TABLE t (value)');
  return database;
}

function insert(database: Statements, value: unknown): Promise<number> {
  return database.run('INSERT INTO t VALUES (@value)', { value });
}

describe('a database', () => {
  test('is durable, checks references and overwrites what is deleted', () => {
    const { handle } = withTable();
    const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'secure_delete'].map((name) =>
      handle.pragma(name, { simple: true }),
    );
    expect(settings).toEqual(['wal', 2, 1, 1]);
  });

  test('is made with its directories, readable by nobody else, and so is its log', () => {
    const file = withTable().handle.name;
    for (const each of [file, `${file}-wal`]) expect(statSync(each).mode & 0o777).toBe(0o600);
  });

  test('can be closed twice', async () => {
    const database = withTable();
    await database.close();
    await database.close();
    expect(database.handle.open).toBe(false);
  });

  test('a transaction that throws leaves nothing', async () => {
    const database = withTable();
    const failing = database.transaction(async (session) => {
      await insert(session, 1);
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    expect(database.handle.prepare('SELECT * FROM t').all()).toEqual([]);
  });

  test('a transaction holds the write lock from its first write', async () => {
    const database = withTable();
    const other = openDatabase({ path: database.handle.name }, { lockWaitMs: 0 });
    await database.transaction(async (tx) => {
      await tx.run('DELETE FROM t');
      await expect(insert(other, 1)).rejects.toEqual(unavailable(/busy/));
    });
    await insert(other, 1);
    await other.close();
  });
});

describe('while another process writes, a transaction', () => {
  test('waits without holding up the event loop', async () => {
    const database = withTable();
    const other = connectTo(database.handle.name).handle;
    other.exec('BEGIN IMMEDIATE');
    const inserted = insert(database, 1);
    await nextTurn();
    await nextTurn();
    expect(await database.all('SELECT * FROM t')).toEqual([]);
    other.exec('ROLLBACK');
    await inserted;
    expect(await database.all('SELECT * FROM t')).toEqual([{ value: 1 }]);
  });

  test('gives up in the end, changes nothing, and the next one goes on', async () => {
    const { handle } = withTable();
    const database = openDatabase({ path: handle.name }, { lockWaitMs: 0 });
    const other = connectTo(handle.name).handle;
    other.exec('BEGIN IMMEDIATE');
    await expect(insert(database, 1)).rejects.toEqual(unavailable(/busy/));
    other.exec('ROLLBACK');
    await insert(database, 2);
    expect(await database.all('SELECT * FROM t')).toEqual([{ value: 2 }]);
    await database.close();
  });
});

describe('the version', () => {
  test('stays while nothing is written', async () => {
    const database = withTable();
    const version = await database.dataVersion();
    database.handle.prepare('SELECT * FROM t').all();
    expect(await database.dataVersion()).toBe(version);
  });

  test('moves on with every write of the writer', async () => {
    const database = withTable();
    const seen = [await database.dataVersion()];
    await insert(database, 1);
    seen.push(await database.dataVersion());
    database.writing.handle.exec('UPDATE t SET value = 2');
    seen.push(await database.dataVersion());
    expect(new Set(seen).size).toBe(3);
  });

  test('moves on with a write of another process', async () => {
    const database = withTable();
    const other = connectTo(database.handle.name);
    const version = await database.dataVersion();
    await insert(other, 1);
    expect(await database.dataVersion()).not.toBe(version);
  });

  test('is looked at once for all who ask in a turn, after everything that the turn wrote', async () => {
    const database = withTable();
    const before = await database.dataVersion();
    const asked = database.dataVersion();
    await insert(database, 1);
    expect(database.dataVersion()).toBe(asked);
    expect(await asked).not.toBe(before);
  });

  test('cannot be told once the store is closed', async () => {
    const database = withTable();
    await database.close();
    await expect(database.dataVersion()).rejects.toThrow();
  });
});

describe('deleted content', () => {
  test('is in no file once the log was truncated', async () => {
    const database = withTable();
    await insert(database, 'maria@example.com');
    expect(bytesInFiles(database)).toContain('maria@example.com');
    database.handle.exec('DELETE FROM t');
    expect(await database.truncateWal()).toBe(true);
    expect(bytesInFiles(database)).not.toContain('maria@example.com');
    expect(statSync(`${database.handle.name}-wal`).size).toBe(0);
  });

  test('stays in the log while a reader of another process stands in the way, and that is said', async () => {
    const database = withTable();
    await insert(database, 1);
    const reader = connectTo(database.handle.name);
    const rows = reader.handle.prepare('SELECT * FROM t').iterate();
    rows.next();
    await insert(database, 2);
    database.writing.waitAtMost(3 * MINUTE); // which is longer than a test may take
    expect(await database.truncateWal()).toBe(false);
    rows.return?.();
    expect(await database.truncateWal()).toBe(true);
  });

  test('stays in the log while another process writes, without an error', async () => {
    const database = withTable();
    const writer = connectTo(database.handle.name);
    database.writing.waitAtMost(3 * MINUTE); // which is longer than a test may take
    await writer.transaction(async (tx) => {
      await insert(tx, 1);
      expect(await database.truncateWal()).toBe(false);
    });
    expect(await database.truncateWal()).toBe(true);
  });
});

describe('a store in trouble is 503 store-unavailable:', () => {
  test('a full disk, and nothing of the change is kept', async () => {
    const database = temporaryDatabase();
    const registry = consumersIn(database);
    const origin = { actor: { kind: 'cli' as const, subject: 'operator' } };
    const { handle } = database.writing;
    const pages = handle.pragma('page_count', { simple: true }) as number;
    handle.pragma(`max_page_count = ${pages}`);
    const fill = async (): Promise<never> => {
      for (;;) await createConsumer(registry, { name: 'x'.repeat(200), force: true }, origin);
    };
    await expect(fill()).rejects.toEqual(unavailable(/no space/));
    const counts = ['consumer', 'api_key', 'audit'].map((table) =>
      database.handle.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
    );
    expect(new Set(counts).size).toBe(1);
    handle.pragma('max_page_count = 100000');
    await createConsumer(registry, { name: 'x' }, origin);
  });

  test('a database that may only be read', async () => {
    const database = withTable();
    database.writing.handle.pragma('query_only = ON');
    await expect(insert(database, 1)).rejects.toEqual(unavailable(/cannot be written/));
  });

  test('a file that is no database', () => {
    const file = path.join(temporaryFolder(), 'x.db');
    writeFileSync(file, 'no database, but longer than the header of one. '.repeat(50));
    expect(() => openDatabase({ path: file })).toThrow(unavailable(/not a database/));
  });

  test('a damaged file', async () => {
    const database = withTable();
    await insert(database, 'x'.repeat(20_000));
    const file = database.handle.name;
    await database.close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x41, 4096));
    const damaged = connectTo(file);
    expect(() => guard(() => damaged.handle.prepare('SELECT * FROM t').all())).toThrow(
      unavailable(/damaged/),
    );
  });

  test('a directory in place of the file, or a file in place of the directory', () => {
    const directory = temporaryFolder();
    mkdirSync(path.join(directory, 'd'));
    writeFileSync(path.join(directory, 'f'), '');
    for (const where of ['d', 'f/x.db'])
      expect(() => openDatabase({ path: path.join(directory, where) })).toThrow(
        unavailable(/cannot be opened/),
      );
  });

  test.runIf(process.getuid?.() !== 0)('a directory that may not be written', () => {
    const directory = temporaryFolder();
    chmodSync(directory, 0o500);
    expect(() => openDatabase({ path: path.join(directory, 'x.db') })).toThrow(
      unavailable(/cannot be opened/),
    );
  });

  test('what is no trouble of the store stays what it is', async () => {
    const { handle } = withTable();
    expect(() => guard(() => handle.exec('SELECT nonsense'))).toThrow(
      expect.objectContaining({ code: 'SQLITE_ERROR' }),
    );
  });
});

test('whoever listens hears of what is written here at once, without a look at the file', async () => {
  vi.stubGlobal('setInterval', () => ({ unref: () => undefined }));
  const database = withTable();
  const heard = vi.fn();
  const listening = database.listen('any', heard);
  const writeInTurn = () => database.exclusive((tx) => insert(tx, 1));
  await writeInTurn();
  await database.dataVersion();
  expect(heard).toHaveBeenCalledTimes(1);
  await listening.close();
  await writeInTurn();
  await database.dataVersion();
  expect(heard).toHaveBeenCalledTimes(1);
});
