import { describe, expect, onTestFinished, test } from 'vitest';
import { type PostgresDatabase, openDatabase } from '#adapters/postgres/connection/database.ts';
import {
  connectToPostgres,
  emptyPostgres,
  type TestDatabase,
} from '../../../support/postgres/database.ts';
import { startPooler } from '../../../support/postgres/pooler.ts';

const pooled = async (): Promise<PostgresDatabase> =>
  connectToPostgres(await startPooler(await emptyPostgres()));

const shared = {
  code: 'store-unavailable',
  detail: expect.stringContaining('pool_mode=session'),
};

test('a pooler that deals out connections by transaction is told apart, and refused', async () => {
  const database = await pooled();
  for (const _look of [1, 2])
    await expect(database.refuseSharedConnections()).rejects.toMatchObject(shared);
});

test('it is also told apart while its connections are busy', async () => {
  const database = await pooled();
  await database.transaction(async () => {
    await expect(database.refuseSharedConnections()).rejects.toMatchObject(shared);
  });
});

test('the server itself is not, and its connections go on', async () => {
  const database = await connectToPostgres(await emptyPostgres());
  for (const _look of [1, 2]) await database.refuseSharedConnections();
  expect(await database.get('SELECT 1 AS one')).toEqual({ one: 1 });
});

test('where there is room for one connection only, nothing is found out', async () => {
  const database = openAlone(await emptyPostgres());
  await expect(database.refuseSharedConnections()).resolves.toBeUndefined();
});

describe('what a connection has prepared', () => {
  const NAMES = 'SELECT name FROM pg_prepared_statements';
  const unavailable = { code: 'store-unavailable' };

  test('and is gone is trouble of the store, and the next connection has it again', async () => {
    const database = openAlone(await emptyPostgres());
    await database.all(NAMES);
    const before = await database.all(NAMES);
    await database.exec('DEALLOCATE ALL');
    await expect(database.all(NAMES)).rejects.toMatchObject(unavailable);
    expect(await database.all(NAMES)).toEqual(before);
  });

  test('has the same name for the same statement only, and a name that is taken is trouble, too', async () => {
    const own = await emptyPostgres();
    const [first, other] = [openAlone(own), openAlone(own)];
    await first.all(NAMES);
    const [prepared] = await first.all<{ name: string }>(NAMES);
    expect(await other.all(`${NAMES} WHERE true`)).not.toContainEqual(prepared);
    const third = openAlone(own);
    await third.exec(`PREPARE "${prepared?.name}" AS SELECT 2`);
    await expect(third.all(NAMES)).rejects.toMatchObject(unavailable);
    expect(await third.all(NAMES)).toEqual([prepared]);
  });
});

/** With one connection, on which everything runs. */
function openAlone({ url }: TestDatabase): PostgresDatabase {
  const database = openDatabase({ url, connectionsMax: 1, connectTimeoutMs: 2000 });
  onTestFinished(() => database.close());
  return database;
}
