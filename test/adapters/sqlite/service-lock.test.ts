import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockForCommand, lockForService } from '#adapters/sqlite/service-lock.ts';
import { SECOND } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock, whileTimePasses } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { connectTo } from '../../support/stores.ts';

const newPath = (): string => path.join(temporaryFolder(), 'data', 'trackport.db');

function setUp(file = newPath()) {
  const clock = createFakeClock();
  const waits: unknown[] = [];
  const log = { ...silentLog, info: (fields: object) => waits.push(fields) };
  const lock = async (stopping?: AbortSignal, at = file) => {
    const taken = await lockForService(at, { clock, log, stopping, stopDelayMs: 0 });
    onTestFinished(() => taken.release());
    return taken;
  };
  return { file, clock, waits, log, lock };
}

const named = `Process ${process.pid} on ${hostname()} (since `;

test.each([
  ['15 s', 0],
  ['15 s beyond the delay of a stop', 60 * SECOND],
])('a second service waits %s for the first, and is then refused by name', async (_what, delay) => {
  const { file, clock, waits, log, lock } = setUp();
  await lock();
  const before = clock.monotonicMs();
  const second = lockForService(file, { clock, log, stopDelayMs: delay });
  await expect(whileTimePasses(clock, second)).rejects.toMatchObject({
    code: 'store-unavailable',
    detail: expect.stringContaining(named) as string,
  });
  expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(delay + 15 * SECOND);
  expect(clock.monotonicMs() - before).toBeLessThan(delay + 17 * SECOND);
  expect(waits).toEqual([{ holder: expect.stringContaining(named) as string }]);
});

test('a second service has the file as soon as the first one ends', async () => {
  const { clock, lock } = setUp();
  const first = await lock();
  const second = lock();
  await clock.advance(5 * SECOND);
  first.release();
  await expect(whileTimePasses(clock, second)).resolves.toBeDefined();
});

test('nobody waits who was told to stop', async () => {
  const { clock, lock } = setUp();
  await lock();
  const stopping = new AbortController();
  const second = lock(stopping.signal);
  stopping.abort(new Error('stopped'));
  await expect(whileTimePasses(clock, second)).rejects.toThrow('stopped');
});

test('a store is the same by whatever path it is reached', async () => {
  const { file, clock, lock } = setUp();
  await lock();
  const link = path.join(temporaryFolder(), 'link.db');
  symlinkSync(file, link);
  await expect(whileTimePasses(clock, lock(undefined, link))).rejects.toMatchObject({
    code: 'store-unavailable',
  });
});

test('a command that needs the file for itself is refused at once, and keeps services out', async () => {
  const { file, clock, lock } = setUp();
  const service = await lock();
  expect(() => lockForCommand(file)).toThrow(named);
  service.release();
  const command = lockForCommand(file);
  await expect(whileTimePasses(clock, lock())).rejects.toThrow(named);
  command.release();
  await lock();
});

test('commands work beside a service', async () => {
  const { file, lock } = setUp();
  await lock();
  const beside = connectTo(file);
  await beside.exec('CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)');
  expect(await beside.get('SELECT x FROM a')).toEqual({ x: 1 });
});

test('who cannot be named is another process', async () => {
  const { file, lock } = setUp();
  await lock();
  for (const text of ['', '{"pid": 1']) {
    writeFileSync(`${file}.lock.json`, text);
    expect(() => lockForCommand(file)).toThrow('Another process works on it');
  }
});

test('the lock holds nothing, and a store that nobody has may be locked anew', async () => {
  const { file, lock } = setUp();
  (await lock()).release();
  expect(readFileSync(`${file}.lock`)).toHaveLength(0);
  expect(existsSync(`${file}.lock-journal`)).toBe(false);
  await lock();
});
