/** The server gives the store's user fewer connections than its pool may have. */
import { expect, onTestFinished, test } from 'vitest';
import { type PostgresDatabase, openDatabase } from '#adapters/postgres/database.ts';
import type { Statements } from '#shared/database.ts';
import { newUuid } from '#shared/ids.ts';
import { eventually } from '../../support/eventually.ts';
import {
  cleanPostgres,
  connectToPostgres,
  emptyPostgres,
} from '../../support/postgres/database.ts';

const unavailable = { code: 'store-unavailable', retryAfterSeconds: 1 };

/** A pool of a user who may have `limit` connections, and what changes that. */
async function limitedTo(limit: number, connectTimeoutMs = 60_000) {
  const own = await emptyPostgres();
  const admin = await connectToPostgres(own);
  const user = `limited_${newUuid().replaceAll('-', '')}`;
  await admin.exec(`CREATE ROLE ${user} LOGIN PASSWORD 'secret' CONNECTION LIMIT ${limit}`);
  cleanPostgres(own, [`DROP ROLE ${user}`]);
  const url = new URL(own.url);
  url.username = user;
  url.password = 'secret';
  const database = openDatabase({ url: url.href, connectTimeoutMs });
  onTestFinished(() => database.close());
  const setLimit = (to: number): Promise<void> =>
    admin.exec(`ALTER ROLE ${user} CONNECTION LIMIT ${to}`);
  return { database, setLimit };
}

const PID = 'SELECT pg_backend_pid() AS pid';

/** So many transactions that wait for each other, each on a connection of its own. */
async function together(database: PostgresDatabase, count: number): Promise<void> {
  const all = Promise.withResolvers<void>();
  let begun = 0;
  const meet = async (session: Statements): Promise<void> => {
    await session.get(PID);
    begun += 1;
    if (begun === count) all.resolve();
    await all.promise;
  };
  await Promise.all(Array.from({ length: count }, () => database.transaction(meet)));
}

test('calls take turns on those that there are, whether the pool has them yet or not', async () => {
  const { database } = await limitedTo(2);
  for (const _round of [1, 2]) {
    const calls = Array.from({ length: 40 }, () => database.get<{ pid: number }>(PID));
    const pids = (await Promise.all(calls)).map((row) => row?.pid);
    expect(new Set(pids).size).toBe(2);
  }
});

test('who gets no turn in time is told to come again', async () => {
  const { database } = await limitedTo(1, 500);
  await database.transaction(async (session) => {
    await session.get(PID);
    for (const _try of [1, 2])
      await expect(database.get(PID)).rejects.toMatchObject({
        ...unavailable,
        detail: 'The store has no resources left.',
      });
  });
  await database.get(PID);
});

test('a pool that has none says so, and has one as soon as there is one', async () => {
  const { database, setLimit } = await limitedTo(0, 1000);
  await expect(database.get(PID)).rejects.toMatchObject({
    ...unavailable,
    detail: 'The store has no resources left.',
  });
  await setLimit(1);
  // The server counts a connection that it refused until its process has ended.
  await eventually(() => database.get(PID));
});

test('a pool takes more once the limit was raised, and no more than it may', async () => {
  const { database, setLimit } = await limitedTo(2);
  await Promise.all([1, 2, 3].map(() => database.get(PID)));
  await setLimit(20);
  await together(database, 10);
  await database.transaction(async () => {
    const others = Array.from({ length: 20 }, () => database.get<{ pid: number }>(PID));
    const pids = (await Promise.all(others)).map((row) => row?.pid);
    expect(new Set(pids).size).toBe(9);
  });
});
