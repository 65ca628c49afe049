import { expect, test } from 'vitest';
import { createWorkerLock } from '#adapters/postgres/work/worker-lock.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

test('one of two has it, until it gives it back', async () => {
  const database = await temporaryPostgres();
  const [first, second] = ['a', 'b'].map((holder) => createWorkerLock(database, holder));
  if (!first || !second) throw new Error('two locks');
  expect(await first.take()).toBe(true);
  expect(await second.take()).toBe(false);
  expect(await first.take()).toBe(true);
  await second.release();
  expect(await second.take()).toBe(false);
  await first.release();
  await first.release();
  expect(await second.take()).toBe(true);
  expect(await first.take()).toBe(false);
});

test('of ten that ask at once one has it', async () => {
  const database = await temporaryPostgres();
  const takes = Array.from({ length: 10 }, (_, at) => createWorkerLock(database, `${at}`).take());
  expect((await Promise.all(takes)).filter(Boolean)).toHaveLength(1);
});

test('it leaves an instance that does not take it again in time', async () => {
  const database = await temporaryPostgres();
  const [dead, next] = [createWorkerLock(database, 'a'), createWorkerLock(database, 'b')];
  await dead.take();
  const soon = await database.get(`
    SELECT 1 FROM worker_lease WHERE until BETWEEN now() + interval '10 s' AND now() + interval '20 s'`);
  expect(soon).toBeDefined();
  await database.run("UPDATE worker_lease SET until = now() - interval '1 ms'");
  expect(await next.take()).toBe(true);
  expect(await dead.take()).toBe(false);
});

test('it is given back without the store, too: its time will end', async () => {
  const database = await temporaryPostgres();
  const lock = createWorkerLock(database, 'a');
  await lock.take();
  await database.close();
  await lock.release();
  await expect(lock.take()).rejects.toMatchObject({ code: 'store-unavailable' });
});
