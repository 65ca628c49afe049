import pg from 'pg';
import { expect, test } from 'vitest';
import type { Database } from '#adapters/postgres/connection/database.ts';
import { createGroupCommit } from '#adapters/postgres/group-commit.ts';
import { together } from '#adapters/store/session.ts';
import type { Session, Write } from '#adapters/store/session.ts';
import { TrackportError } from '#shared/errors.ts';
import { connectToPostgres, emptyPostgres } from '../../support/postgres/database.ts';

const insert = (session: Session, n: number) =>
  session.run('INSERT INTO note (n) VALUES (@n)', { n });

/** Two kinds of writes: one writes its items at once, the other one after another. */
async function setUp() {
  const database = await connectToPostgres(await emptyPostgres());
  await database.exec('CREATE TABLE note (n integer PRIMARY KEY)');
  const seen = { transactions: 0, batches: [] as number[] };
  let failure: Error | undefined;
  const transaction: Database['transaction'] = async (work) => {
    seen.transactions += 1;
    return database.transaction(async (session) => {
      const result = await work(session);
      if (failure) throw failure;
      return result;
    });
  };
  const groupCommit = createGroupCommit(transaction);
  const doubled = writeBy<number>(
    together(async (session, inputs: readonly [number][]) => {
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
    return (n) => groupCommit({ store: 'note', name: 'insert' }, write, [n]) as Promise<Out>;
  }
  const stored = async () =>
    (await database.all<{ n: number }>('SELECT n FROM note ORDER BY n')).map(({ n }) => n);
  return {
    seen,
    doubled,
    named,
    stored,
    failWith: (error: Error | undefined) => {
      failure = error;
    },
  };
}

test('writes of several kinds share one transaction, and each has its own result', async () => {
  const { seen, doubled, named, stored } = await setUp();
  const results = [doubled(1), named(10), doubled(2), named(20)];
  expect(await Promise.all(results)).toEqual([2, 'note 10', 4, 'note 20']);
  expect(seen).toEqual({ transactions: 1, batches: [2] });
  expect(await stored()).toEqual([1, 2, 10, 20]);
});

test('one that fails for a reason of its own takes neither its kind nor another with it', async () => {
  const { doubled, named, stored } = await setUp();
  await named(7);
  const results = await Promise.allSettled([doubled(1), doubled(7), named(2), named(1)]);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected', // the first one has written the same
  ]);
  expect(await stored()).toEqual([1, 2, 7]);
});

test('when the commit fails, all kinds are refused and nothing is kept', async () => {
  const { doubled, named, stored, failWith } = await setUp();
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
  const { seen, doubled, failWith } = await setUp();
  const cause = new pg.DatabaseError('canceling statement due to lock timeout', 0, 'error');
  cause.code = '55P03';
  failWith(new TrackportError('store-unavailable', { cause }));
  const all = Array.from({ length: 101 }, (_, n) => doubled(n)); // a hundred at once
  const refused = { status: 'rejected', reason: { code: 'store-unavailable' } };
  expect(await Promise.allSettled(all)).toMatchObject(all.map(() => refused));
  expect(seen.transactions).toBe(1);
  failWith(undefined);
  expect(await doubled(200)).toBe(400);
});
