import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { StoreDatabase } from '#adapters/store/session.ts';
import { createWorkerLock } from '#adapters/store/work/worker-lock.ts';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';
import { SECOND } from '#shared/clock.ts';
import { describeWorkerLock } from '../../../contract/worker-lock.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

function lockOn(database: StoreDatabase, instance: string, clock = createFakeClock()): WorkerLock {
  const lock = createWorkerLock({ database, instance, clock });
  onTestFinished(() => lock.release());
  return lock;
}

describeWorkerLock('SQLite', async () => {
  const file = temporaryDatabase().handle.name;
  const clock = createFakeClock();
  return {
    create: (instance) => lockOn(connectTo(file), instance, clock),
    pass: (ms) => clock.advance(ms),
  };
});

describeWorkerLock('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  const clock = createFakeClock();
  const move = 'UPDATE worker_lease SET until = until - make_interval(secs => @seconds)';
  return {
    create: (instance) => lockOn(database, instance, clock),
    pass: async (ms) => {
      await database.run(move, { seconds: ms / SECOND });
      await clock.advance(ms);
    },
  };
});

test('who did not look for a while does not know what the holder did meanwhile', async () => {
  const database = temporaryDatabase();
  const clock = createFakeClock();
  const [holder, other] = [lockOn(database, 'a', clock), lockOn(database, 'b', clock)];
  expect(await holder.take()).toBe(true);
  expect(await other.take()).toBe(false);
  await clock.advance(3_600_000); // the machine slept, or both were stopped
  expect(await other.take()).toBe(false);
  expect(await holder.take()).toBe(true);
});

test('without the file it is store-unavailable', async () => {
  const database = temporaryDatabase();
  const lock = lockOn(database, 'a');
  rmSync(database.handle.name);
  await expect(lock.take()).rejects.toMatchObject({ code: 'store-unavailable' });
});

test('it is given back without the store, too: its time will end', async () => {
  const database = await temporaryPostgres();
  const lock = lockOn(database, 'a');
  await lock.take();
  await database.close();
  await lock.release();
  await expect(lock.take()).rejects.toMatchObject({ code: 'store-unavailable' });
});
