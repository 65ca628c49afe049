import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createWorkerLock } from '#adapters/sqlite/work/worker-lock.ts';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';
import { describeWorkerLock } from '../../../contract/worker-lock.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { temporaryFolder } from '../../../support/folder.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

/** As a process has it that does not know of the others. */
function lockOn(file: string, instance: string, clock = createFakeClock()): WorkerLock {
  const lock = createWorkerLock({ database: connectTo(file), instance, clock });
  onTestFinished(() => lock.release());
  return lock;
}

/** A process of its own, which asks for the lock when it is told to. */
async function otherProcess(file: string) {
  const program = `
    import { openDatabase } from '#adapters/sqlite/connection/database.ts';
    import { createWorkerLock } from '#adapters/sqlite/work/worker-lock.ts';
    import { systemClock as clock } from '#shared/clock.ts';
    const database = openDatabase({ path: ${JSON.stringify(file)} });
    const lock = createWorkerLock({ database, instance: 'other', clock });
    process.stdin.on('data', async () => process.stdout.write(String(await lock.take())));`;
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const kill = async (): Promise<void> => {
    if (child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  return {
    kill,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** Resolves once it runs. */
    take: async (): Promise<boolean> => {
      const said = once(child.stdout, 'data') as Promise<[Buffer]>;
      child.stdin.write('take\n');
      return (await said)[0].toString() === 'true';
    },
  };
}

describeWorkerLock('SQLite', async () => {
  const file = temporaryDatabase().handle.name;
  const clock = createFakeClock();
  return { create: (instance) => lockOn(file, instance, clock), pass: (ms) => clock.advance(ms) };
});

test('it goes at once with a process that is killed', async () => {
  const file = temporaryDatabase().handle.name;
  const lock = lockOn(file, 'a');
  const other = await otherProcess(file);
  expect(await other.take()).toBe(true);
  expect(await lock.take()).toBe(false);
  await other.kill();
  expect(await lock.take()).toBe(true);
});

test('a process that is frozen is followed, stands by when it wakes, and is followed back at once', async () => {
  const file = temporaryDatabase().handle.name;
  const clock = createFakeClock();
  const [lock, third] = [lockOn(file, 'a', clock), lockOn(file, 'b', clock)];
  const other = await otherProcess(file);
  expect(await other.take()).toBe(true);
  other.signal('SIGSTOP');
  for (let looks = 0; looks < 10 && !(await lock.take()); looks += 1) await clock.advance(2000);
  expect(await lock.take()).toBe(true);
  expect(await third.take()).toBe(false);
  const woken = other.take();
  other.signal('SIGCONT');
  expect(await woken).toBe(false);
  // It has let go of the file: who has the lease gets it, and its end is seen at once again.
  expect(await lock.take()).toBe(true);
  await lock.release();
  expect(await other.take()).toBe(true);
  await other.kill();
  expect(await third.take()).toBe(true);
});

test('who did not look for a while does not know what the holder did meanwhile', async () => {
  const file = temporaryDatabase().handle.name;
  const clock = createFakeClock();
  const [holder, other] = [lockOn(file, 'a', clock), lockOn(file, 'b', clock)];
  expect(await holder.take()).toBe(true);
  expect(await other.take()).toBe(false);
  await clock.advance(3_600_000); // the machine slept, or both were stopped
  expect(await other.take()).toBe(false);
  expect(await holder.take()).toBe(true);
});

test('a lock that a program without leases has is respected', async () => {
  const database = temporaryDatabase();
  const file = database.handle.name;
  const clock = createFakeClock();
  const [older, newer] = [lockOn(file, 'a', clock), lockOn(file, 'b', clock)];
  await older.take();
  database.handle.exec('UPDATE worker_lease SET holder = NULL, beat = 0, has_lock = 1');
  for (let looks = 0; looks < 20; looks += 1) {
    expect(await newer.take()).toBe(false);
    await clock.advance(2000);
  }
  await older.release();
  expect(await newer.take()).toBe(true);
});

test('a store has one lock, whatever name the store goes by', async () => {
  const file = temporaryDatabase().handle.name;
  const alias = path.join(temporaryFolder(), 'alias.db');
  symlinkSync(file, alias);
  expect(await lockOn(file, 'a').take()).toBe(true);
  expect(await lockOn(alias, 'b').take()).toBe(false);
});

test('it stops nobody from writing, and its file is empty and readable by its owner only', async () => {
  const database = temporaryDatabase();
  expect(await lockOn(database.handle.name, 'a').take()).toBe(true);
  database.transaction(() => database.handle.exec('CREATE TABLE t (value)'));
  const { size, mode } = statSync(`${database.handle.name}-worker`);
  expect([size, mode & 0o777]).toEqual([0, 0o600]);
});

test('without the file it is store-unavailable', async () => {
  const file = temporaryDatabase().handle.name;
  const lock = lockOn(file, 'a');
  rmSync(file);
  await expect(lock.take()).rejects.toMatchObject({ code: 'store-unavailable' });
});
