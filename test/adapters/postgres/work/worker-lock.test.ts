import { expect, test } from 'vitest';
import { SECOND } from '#shared/clock.ts';
import { createWorkerLock } from '#adapters/postgres/work/worker-lock.ts';
import { describeWorkerLock } from '../../../contract/worker-lock.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeWorkerLock('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  const move = 'UPDATE worker_lease SET until = until - make_interval(secs => @seconds)';
  return {
    create: (instance) => createWorkerLock(database, instance),
    pass: async (ms) => {
      await database.run(move, { seconds: ms / SECOND });
    },
  };
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
