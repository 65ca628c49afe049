import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { createGroupCommit } from '#adapters/sqlite/writer/group-commit.ts';
import { TrackportError } from '#shared/errors.ts';
import { connectTo, temporaryDatabase, withCommits } from '../../../support/stores.ts';

const waiting = { lockWaitMs: 1000 };

describe('group commit', () => {
  const counting = (database: Database) => {
    const seen = { transactions: 0 };
    const counted = withCommits(database, (commit) => {
      seen.transactions += 1;
      return commit();
    });
    return { seen, counted };
  };

  test('calls that are in flight together share one transaction', async () => {
    const { seen, counted } = counting(temporaryDatabase());
    const commit = createGroupCommit(counted, waiting);
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, item) => commit(() => item * 2)),
    );
    expect(results).toEqual(Array.from({ length: 100 }, (_, item) => item * 2));
    expect(seen.transactions).toBe(1);
    expect(await commit(() => 14)).toBe(14);
    expect(seen.transactions).toBe(2);
  });

  test('a call that fails for a reason of its own does not take the others with it', async () => {
    const database = temporaryDatabase();
    database.handle.exec('CREATE TABLE t (n INTEGER)');
    const insert = database.handle.prepare('INSERT INTO t VALUES (?)');
    const commit = createGroupCommit(database, waiting);
    const write = (item: number) => () => {
      insert.run(item);
      if (item === 2) throw new RangeError('two');
      return item;
    };
    const results = await Promise.allSettled([1, 2, 3].map((item) => commit(write(item))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(database.handle.prepare('SELECT n FROM t').pluck().all()).toEqual([1, 3]);
  });

  test('when the commit fails, all are refused and nothing is kept', async () => {
    const database = temporaryDatabase();
    database.handle.exec('CREATE TABLE t (n INTEGER)');
    const insert = database.handle.prepare('INSERT INTO t VALUES (?)');
    const failing = {
      ...database,
      transactionNow: <T>(work: () => T | Promise<T>): Promise<T> =>
        database.transactionNow(async () => {
          await work();
          throw new TrackportError('store-unavailable');
        }),
    };
    const commit = createGroupCommit(failing, waiting);
    const results = await Promise.allSettled([1, 2].map((n) => commit(() => insert.run(n))));
    expect(results).toMatchObject([
      { status: 'rejected', reason: { code: 'store-unavailable' } },
      { status: 'rejected', reason: { code: 'store-unavailable' } },
    ]);
    expect(database.handle.prepare('SELECT n FROM t').pluck().all()).toEqual([]);
  });
});

describe('savepoints', () => {
  const counting = () => {
    const database = temporaryDatabase();
    database.handle.exec('CREATE TABLE t (n INTEGER)');
    const insert = database.handle.prepare('INSERT INTO t VALUES (?)');
    const seen = { savepoints: 0, groups: 0 };
    const transactionNow = <T>(work: () => T | Promise<T>): Promise<T> => {
      seen[database.handle.inTransaction ? 'savepoints' : 'groups'] += 1;
      return database.transactionNow(work);
    };
    const commit = createGroupCommit({ ...database, transactionNow }, waiting);
    const undone = (): never => {
      insert.run(0);
      throw new RangeError('not wanted');
    };
    const stored = () => database.handle.prepare('SELECT n FROM t ORDER BY n').pluck().all();
    return { seen, commit, stored, undone, put: (n: number) => () => void insert.run(n) };
  };

  test('are not taken while nothing throws', async () => {
    const { seen, commit, stored, put } = counting();
    await Promise.all([1, 2, 3].map((n) => commit(put(n), 'put')));
    expect(seen).toEqual({ savepoints: 0, groups: 1 });
    expect(stored()).toEqual([1, 2, 3]);
  });

  test('are taken by writes of a kind that has thrown, and no group is done twice for it', async () => {
    const { seen, commit, stored, undone, put } = counting();
    await Promise.allSettled([commit(put(1), 'put'), commit(undone, 'try')]);
    expect(seen).toEqual({ savepoints: 1, groups: 2 });
    await Promise.allSettled([commit(put(2), 'put'), commit(undone, 'try'), commit(put(3), 'put')]);
    expect(seen).toEqual({ savepoints: 2, groups: 3 });
    expect(stored()).toEqual([1, 2, 3]);
  });
});

describe('writes that are made in one go', () => {
  const setUp = () => {
    const database = temporaryDatabase();
    database.handle.exec('CREATE TABLE t (n INTEGER UNIQUE)');
    const insert = database.handle.prepare('INSERT INTO t VALUES (?)');
    const groups: (readonly number[])[] = [];
    const commit = createGroupCommit(database, waiting);
    const write = (n: number): string => {
      insert.run(n);
      return `wrote ${n}`;
    };
    const writeAll = (inputs: readonly unknown[]): string[] => {
      groups.push(inputs as number[]);
      return inputs.map((n) => write(n as number));
    };
    const put = (n: number, all = writeAll) =>
      commit(() => write(n), 'put', { input: n, writeAll: all });
    const stored = () => database.handle.prepare('SELECT n FROM t ORDER BY n').pluck().all();
    return { put, commit, groups, stored, insert };
  };

  test('have a result each, and others of the group have theirs', async () => {
    const { put, commit, groups, stored, insert } = setUp();
    const other = commit(() => insert.run(9).changes, 'other');
    expect(await Promise.all([put(1), other, put(2)])).toEqual(['wrote 1', 1, 'wrote 2']);
    expect(groups).toEqual([[1, 2]]);
    expect(stored()).toEqual([1, 2, 9]);
  });

  test('are made alone when one of them fails, and in one go again the next time', async () => {
    const { put, groups, stored } = setUp();
    const results = await Promise.allSettled([put(1), put(1), put(2)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(stored()).toEqual([1, 2]);
    await Promise.all([put(3), put(4)]);
    expect(groups).toEqual([
      [1, 1, 2],
      [3, 4],
    ]);
  });

  test('are not made by what writes for somebody else', async () => {
    const { put, groups } = setUp();
    const others: (readonly unknown[])[] = [];
    const elsewhere = (inputs: readonly unknown[]): string[] => {
      others.push(inputs);
      return inputs.map((n) => `else ${String(n)}`);
    };
    const results = [put(1), put(2, elsewhere), put(3), put(4, elsewhere)];
    expect(await Promise.all(results)).toEqual(['wrote 1', 'else 2', 'wrote 3', 'else 4']);
    expect([groups, others]).toEqual([[[1, 3]], [[2, 4]]]);
  });
});

describe('what one write of a group does to the others:', () => {
  const withRows = () => {
    const database = temporaryDatabase();
    database.handle.exec('CREATE TABLE t (n INTEGER)');
    const insert = database.handle.prepare('INSERT INTO t VALUES (?)');
    const commit = createGroupCommit(database, waiting);
    const stored = () => database.handle.prepare('SELECT n FROM t ORDER BY n').pluck().all();
    return { database, insert, commit, stored };
  };

  test('one that ends the whole transaction refuses all, so that none is half a group', async () => {
    const { database, insert, commit, stored } = withRows();
    const ended = () => {
      insert.run(2);
      database.handle.exec('ROLLBACK'); // as SQLite does by itself on a full disk
      throw new RangeError('ended');
    };
    const group = [commit(() => insert.run(1)), commit(ended), commit(() => insert.run(3))];
    const results = await Promise.allSettled(group);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(stored()).toEqual([]);
    await commit(() => insert.run(4));
    expect(stored()).toEqual([4]);
  });
});

describe('group commit while another process writes', () => {
  const setUp = () => {
    const database = temporaryDatabase();
    database.handle.exec('CREATE TABLE t (n INTEGER)');
    const insert = database.handle.prepare('INSERT INTO t VALUES (?)');
    const other = connectTo(database.handle.name).handle;
    const commit = createGroupCommit(database, { lockWaitMs: 100 });
    return {
      commit: (item: number) => commit(() => void insert.run(item)),
      stored: () => database.handle.prepare('SELECT n FROM t ORDER BY n').pluck().all(),
      other,
    };
  };

  test('waits without holding up the event loop, and takes in what comes meanwhile', async () => {
    const { commit, stored, other } = setUp();
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
    await commit(3);
    expect(stored()).toEqual([1, 2, 3]);
  });

  test('gives up in the end, accepts nothing, and goes on afterwards', async () => {
    const { commit, stored, other } = setUp();
    other.exec('BEGIN IMMEDIATE');
    await expect(commit(1)).rejects.toMatchObject({
      code: 'store-unavailable',
      retryAfterSeconds: 1,
    });
    other.exec('ROLLBACK');
    await commit(2);
    expect(stored()).toEqual([2]);
  });
});
