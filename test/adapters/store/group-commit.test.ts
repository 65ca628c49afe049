import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { isLocked } from '#adapters/postgres/connection/errors.ts';
import { isBusy } from '#adapters/sqlite/connection/errors.ts';
import { createGroupCommit, type GroupCommitOptions } from '#adapters/store/group-commit.ts';
import { type Session, batched, type Write } from '#adapters/store/session.ts';
import { TrackportError } from '#shared/errors.ts';
import { connectToPostgres, emptyPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';

type Engine = GroupCommitOptions & {
  session: Session;
  /** What the driver throws when somebody else's lock stood in the way for too long. */
  lockError: Error;
};

async function openSqlite(): Promise<Engine> {
  const { writing } = temporaryDatabase();
  return {
    session: writing,
    transaction: (work) => writing.transaction(work),
    isLocked: isBusy,
    lockError: Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' }),
  };
}

async function openPostgres(): Promise<Engine> {
  const database = await connectToPostgres(await emptyPostgres());
  const lockError = new pg.DatabaseError('canceling statement due to lock timeout', 0, 'error');
  lockError.code = '55P03';
  return {
    session: database,
    transaction: (work) => database.transaction(work),
    isLocked,
    lockError,
  };
}

const insert = (session: Session, n: number) =>
  session.run('INSERT INTO note (n) VALUES (@n)', { n });

/** Two kinds of writes: one writes its items at once, the other one after another. */
async function setUp(open: () => Promise<Engine>) {
  const engine = await open();
  await engine.session.exec('CREATE TABLE note (n integer PRIMARY KEY)');
  const seen = { transactions: 0, batches: [] as number[] };
  let failure: Error | undefined;
  const transaction: GroupCommitOptions['transaction'] = async (work) => {
    seen.transactions += 1;
    return engine.transaction(async (session) => {
      const result = await work(session);
      if (failure) throw failure;
      return result;
    });
  };
  const groupCommit = createGroupCommit({ ...engine, transaction });
  const doubled = writeBy<number>(
    batched(async (session, inputs: readonly [number][]) => {
      seen.batches.push(inputs.length);
      for (const [n] of inputs) await insert(session, n);
      return inputs.map(([n]) => n * 2);
    }),
  );
  const named = writeBy<string>(async (session: Session, n: number) => {
    await insert(session, n);
    return `note ${n}`;
  });
  function writeBy<Out>(write: Write): (n: number) => Promise<Out> {
    return (n) => groupCommit.call({ store: 'note', name: 'insert' }, write, [n]) as Promise<Out>;
  }
  const stored = async () =>
    (await engine.session.all<{ n: number }>('SELECT n FROM note ORDER BY n')).map(({ n }) => n);
  return {
    seen,
    doubled,
    named,
    stored,
    settled: groupCommit.settled,
    lockError: engine.lockError,
    failWith: (error: Error | undefined) => {
      failure = error;
    },
  };
}

const engines = [
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
] as const;

describe.each(engines)('group commit on %s', (_name, open) => {
  test('writes of several kinds share one transaction, and each has its own result', async () => {
    const { seen, doubled, named, stored, settled } = await setUp(open);
    const results = Promise.all([doubled(1), named(10), doubled(2), named(20)]);
    await settled();
    expect(await stored()).toEqual([1, 2, 10, 20]);
    expect(await results).toEqual([2, 'note 10', 4, 'note 20']);
    expect(seen).toEqual({ transactions: 1, batches: [2] });
  });

  test('when one fails for a reason of its own, each is made in a transaction of its own', async () => {
    const { seen, doubled, named, stored } = await setUp(open);
    await named(7);
    seen.transactions = 0;
    const results = await Promise.allSettled([doubled(1), doubled(7), named(2), named(1)]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected', // the first one has written the same
    ]);
    expect(await stored()).toEqual([1, 2, 7]);
    expect(seen).toEqual({ transactions: 5, batches: [2, 1, 1] });
  });

  test('when the commit fails, all kinds are refused and nothing is kept', async () => {
    const { doubled, named, stored, failWith } = await setUp(open);
    failWith(new TrackportError('store-unavailable'));
    expect(await Promise.allSettled([doubled(1), named(2)])).toMatchObject([
      { status: 'rejected', reason: { code: 'store-unavailable' } },
      { status: 'rejected', reason: { code: 'store-unavailable' } },
    ]);
    failWith(undefined);
    expect(await doubled(3)).toBe(6);
    expect(await stored()).toEqual([3]);
  });

  test('what waited behind somebody else’s lock fails with those that waited first', async () => {
    const { seen, doubled, failWith, lockError } = await setUp(open);
    failWith(new TrackportError('store-unavailable', { cause: lockError }));
    const all = Array.from({ length: 101 }, (_, n) => doubled(n)); // a hundred at once
    const refused = { status: 'rejected', reason: { code: 'store-unavailable' } };
    expect(await Promise.allSettled(all)).toMatchObject(all.map(() => refused));
    expect(seen.transactions).toBe(1);
    failWith(undefined);
    expect(await doubled(200)).toBe(400);
  });
});
