import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createWorkerLock } from '#adapters/sqlite/work/worker-lock.ts';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';
import { describeWorkerLock } from '../../../contract/worker-lock.ts';
import { temporaryFolder } from '../../../support/folder.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

function lockOn(file: string): WorkerLock {
  const lock = createWorkerLock(file);
  onTestFinished(() => lock.release());
  return lock;
}

/** Another process that has the lock until it is killed. */
async function processWithLock(file: string) {
  const program = `
    import { createWorkerLock } from '#adapters/sqlite/work/worker-lock.ts';
    const lock = createWorkerLock(${JSON.stringify(file)}); // kept: what is collected gives its lock back
    const isMine = await lock.take();
    process.stdout.write(String(isMine));
    setInterval(() => lock, 1000);`;
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = async (): Promise<void> => {
    if (child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { isHolder: said.toString() === 'true', kill };
}

describeWorkerLock('SQLite', async () => {
  const file = temporaryDatabase().handle.name;
  return () => createWorkerLock(file);
});

test('it goes with a process that is killed', async () => {
  const file = temporaryDatabase().handle.name;
  const lock = lockOn(file);
  const other = await processWithLock(file);
  expect(other.isHolder).toBe(true);
  expect(await lock.take()).toBe(false);
  await other.kill();
  expect(await lock.take()).toBe(true);
});

test('a store has one lock, whatever name the store goes by', async () => {
  const file = temporaryDatabase().handle.name;
  const alias = path.join(temporaryFolder(), 'alias.db');
  symlinkSync(file, alias);
  expect(await lockOn(file).take()).toBe(true);
  expect(await lockOn(alias).take()).toBe(false);
});

test('it stops nobody from writing, and its file is empty and readable by its owner only', async () => {
  const database = temporaryDatabase();
  expect(await lockOn(database.handle.name).take()).toBe(true);
  database.transaction(() => database.handle.exec('CREATE TABLE t (value)'));
  const { size, mode } = statSync(`${database.handle.name}-worker`);
  expect([size, mode & 0o777]).toEqual([0, 0o600]);
});

test('without the folder it is store-unavailable', async () => {
  const lock = lockOn(path.join(temporaryFolder(), 'missing', 'trackport.db'));
  await expect(lock.take()).rejects.toMatchObject({ code: 'store-unavailable' });
});
