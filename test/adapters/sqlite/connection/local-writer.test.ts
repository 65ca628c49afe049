import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createLocalWriter, openConnection } from '#adapters/sqlite/connection/connection.ts';
import { type Session, batched, type Write } from '#adapters/store/session.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

const setUp = () => {
  const database = temporaryDatabase();
  database.handle.exec('CREATE TABLE t (n INTEGER)');
  const path = database.handle.name;
  const connection = openConnection(path);
  const writer = createLocalWriter(connection, { lockWaitMs: 100 });
  const batches: number[] = [];
  const insert = batched(async (session, inputs: readonly [number][]) => {
    batches.push(inputs.length);
    for (const [n] of inputs) await session.run('INSERT INTO t VALUES (@n)', { n });
    return inputs;
  });
  return {
    connection,
    writer,
    commit: (n: number, write: Write = insert) =>
      writer.call({ store: 't', name: 'insert' }, write, [n]),
    insert,
    batches,
    stored: () => database.handle.prepare('SELECT n FROM t ORDER BY n').pluck().all(),
    other: connectTo(path).handle,
  };
};

describe('while another process writes, a write', () => {
  test('waits without holding up the event loop, and takes in what comes meanwhile', async () => {
    const { commit, batches, stored, other, writer } = setUp();
    other.exec('BEGIN IMMEDIATE');
    const first = commit(1);
    await nextTurn();
    await nextTurn();
    const second = commit(2);
    await nextTurn();
    expect(stored()).toEqual([]);
    other.exec('ROLLBACK');
    await Promise.all([first, second]);
    expect(stored()).toEqual([1, 2]);
    expect(batches).toEqual([2]);
    await commit(3);
    expect(stored()).toEqual([1, 2, 3]);
    await writer.close();
  });

  test('gives up in the end, accepts nothing, and goes on afterwards', async () => {
    const { commit, stored, other, writer } = setUp();
    other.exec('BEGIN IMMEDIATE');
    await expect(commit(1)).rejects.toMatchObject({
      code: 'store-unavailable',
      retryAfterSeconds: 1,
    });
    other.exec('ROLLBACK');
    await commit(2);
    expect(stored()).toEqual([2]);
    await writer.close();
  });
});

test('one that ends the whole transaction leaves no half of a group', async () => {
  const { connection, commit, insert, stored, writer } = setUp();
  const ended = async (session: Session, n: number): Promise<void> => {
    await insert(session, n);
    connection.handle.exec('ROLLBACK'); // as SQLite does by itself on a full disk
    throw new RangeError('ended');
  };
  const results = await Promise.allSettled([commit(1), commit(2, ended), commit(3)]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(stored()).toEqual([1, 3]);
  await writer.close();
});
