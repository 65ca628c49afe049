import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SECOND } from '#shared/clock.ts';
import { type Database, send, type Statements } from '#shared/database.ts';
import { temporaryPostgres } from '../support/postgres/database.ts';
import { temporaryDatabase, threadedDatabase } from '../support/stores.ts';

const PUT = `
  INSERT INTO lead_feed_reader (consumer_id, position, read_at) VALUES ('one', @at, 0)
  ON CONFLICT (consumer_id) DO UPDATE SET position = @at`;
const FAIL = 'INSERT INTO lead_feed_reader (position) VALUES (2)';
const read = (database: Pick<Statements, 'get'>) =>
  database.get('SELECT position AS at FROM lead_feed_reader');

const engines: [string, () => Database | Promise<Database>][] = [
  ['of SQLite in this thread', temporaryDatabase],
  ['of SQLite in a thread of its own', threadedDatabase],
  ['of PostgreSQL', temporaryPostgres],
];

describe.each(engines)('a transaction %s', (_name, open) => {
  test('is committed with what nobody waited for', async () => {
    const database = await open();
    await database.transaction(async (tx) => void tx.run(PUT, { at: 1 }));
    expect(await read(database)).toEqual({ at: 1 });
  });

  test('is undone when a statement fails, though nobody waited for it or minded', async () => {
    const database = await open();
    const works: ((tx: Statements) => Promise<unknown>)[] = [
      async (tx) => void tx.run(FAIL),
      (tx) => tx.run(FAIL).catch(() => undefined),
    ];
    for (const work of works) {
      const failing = database.transaction(async (tx) => {
        await tx.run(PUT, { at: 2 });
        await work(tx);
      });
      await expect(failing).rejects.toThrow(/null/i);
      expect(await read(database)).toBeUndefined();
    }
    await database.run(PUT, { at: 3 });
    expect(await read(database)).toEqual({ at: 3 });
  });

  test('fails by the first of its statements that did, though nobody minded', async () => {
    const database = await open();
    const failing = database.transaction(async (tx) => {
      await tx.run(FAIL).catch(() => undefined);
      await tx.run(PUT, { at: 1 }).catch(() => undefined);
    });
    await expect(failing).rejects.toThrow(/null/i);
  });

  test('is undone when a statement cannot even be asked for, though nobody waited for it', async () => {
    const database = await open();
    const failing = database.transaction(async (tx) => {
      await tx.run(PUT, { at: 1 });
      send(tx, PUT);
    });
    await expect(failing).rejects.toThrow('no value for @at');
    expect(await read(database)).toBeUndefined();
  });

  test('cannot be used when it is over', async () => {
    const database = await open();
    let kept: Statements | undefined;
    await database.transaction(async (tx) => void (kept = tx));
    await expect(kept?.run(PUT, { at: 1 })).rejects.toThrow('the transaction is over');
    const failing = database.transaction((tx) => {
      kept = tx;
      throw new Error('at once');
    });
    await expect(failing).rejects.toThrow('at once');
    await expect(kept?.run(PUT, { at: 2 })).rejects.toThrow('the transaction is over');
    expect(await read(database)).toBeUndefined();
  });

  test('within another one is refused at once: it would wait for itself', async () => {
    const database = await open();
    const outer = database.transaction(() => database.transaction((tx) => tx.run(PUT, { at: 1 })));
    await expect(outer).rejects.toThrow('would wait for itself');
    await database.run(PUT, { at: 2 });
  });

  test('can follow one that has begun what asks for it', async () => {
    const database = await open();
    const gate = Promise.withResolvers<void>();
    let later: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      await tx.run(PUT, { at: 1 });
      later = gate.promise.then(() => database.transaction((next) => next.run(PUT, { at: 2 })));
    });
    gate.resolve();
    await later;
    expect(await read(database)).toEqual({ at: 2 });
  });

  test('that waits for something else is undone after 2 s, and the next goes on', async () => {
    const database = await open();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const begun = Promise.withResolvers<void>();
    const idle = database.transaction(async (tx) => {
      await tx.run(PUT, { at: 1 });
      begun.resolve();
      await new Promise<never>(() => undefined);
    });
    const failed = idle.catch((error: unknown) => error);
    await begun.promise;
    const next = database.run(PUT, { at: 2 });
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    expect(await failed).toMatchObject({ message: expect.stringContaining('waited 2000 ms') });
    await next;
    expect(await read(database)).toEqual({ at: 2 });
  });
});
