import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { StoreDatabase } from '#adapters/store/session.ts';
import { createWorkerLease } from '#adapters/store/work/worker-lease.ts';
import type { WorkerLease } from '#partners/worker/background-work.ts';
import { SECOND } from '#shared/clock.ts';
import { describeWorkerLease } from '../../../contract/worker-lease.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

function leaseOn(
  database: StoreDatabase,
  instance: string,
  clock = createFakeClock(),
): WorkerLease {
  const lease = createWorkerLease({ database, instance, clock });
  onTestFinished(() => lease.release());
  return lease;
}

describeWorkerLease('SQLite', async () => {
  const file = temporaryDatabase().handle.name;
  const clock = createFakeClock();
  return {
    create: (instance) => leaseOn(connectTo(file), instance, clock),
    pass: (ms) => clock.advance(ms),
  };
});

describeWorkerLease('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  const clock = createFakeClock();
  const move = 'UPDATE worker_lease SET until = until - make_interval(secs => @seconds)';
  return {
    create: (instance) => leaseOn(database, instance, clock),
    pass: async (ms) => {
      await database.run(move, { seconds: ms / SECOND });
      await clock.advance(ms);
    },
  };
});

test('who did not look for a while does not know what the holder did meanwhile', async () => {
  const database = temporaryDatabase();
  const clock = createFakeClock();
  const [holder, other] = [leaseOn(database, 'a', clock), leaseOn(database, 'b', clock)];
  expect(await holder.take()).toBe(true);
  expect(await other.take()).toBe(false);
  await clock.advance(3_600_000); // the machine slept, or both were stopped
  expect(await other.take()).toBe(false);
  expect(await holder.take()).toBe(true);
});

test('without the file it is store-unavailable', async () => {
  const database = temporaryDatabase();
  const lease = leaseOn(database, 'a');
  rmSync(database.handle.name);
  await expect(lease.take()).rejects.toMatchObject({ code: 'store-unavailable' });
});

test('it is given back without the store, too: its time will end', async () => {
  const database = await temporaryPostgres();
  const lease = leaseOn(database, 'a');
  await lease.take();
  await database.close();
  await lease.release();
  await expect(lease.take()).rejects.toMatchObject({ code: 'store-unavailable' });
});
