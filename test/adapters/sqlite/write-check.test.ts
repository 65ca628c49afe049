import { expect, test } from 'vitest';
import { createWriteCheck } from '#adapters/sqlite/write-check.ts';
import { TrackportError } from '#shared/errors.ts';
import { createFakeClock } from '../../support/clock.ts';
import { connectTo, temporaryDatabase } from '../../support/stores.ts';

function setUp() {
  const database = temporaryDatabase();
  const { handle } = database.writing;
  const clock = createFakeClock();
  const writes = createWriteCheck(database, clock);
  const changes = (): number =>
    handle.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0;
  return { database, clock, writes, changes, handle };
}

const full = new TrackportError('store-unavailable', { detail: 'The store has no space left.' });

test('a well store gets one small write in ten seconds, however often it is asked', async () => {
  const { writes, clock, changes } = setUp();
  const before = changes();
  await Promise.all(Array.from({ length: 20 }, () => writes.check()));
  await clock.advance(9999);
  await writes.check();
  expect(changes() - before).toBe(1);
  await clock.advance(1);
  await writes.check();
  expect(changes() - before).toBe(2);
});

test('a write that the store failed is told until a large one has succeeded', async () => {
  const { writes, clock, handle } = setUp();
  await writes.check();
  await expect(writes.watch(Promise.reject(full))).rejects.toBe(full);
  await expect(writes.check()).rejects.toBe(full);
  const pages = handle.pragma('page_count', { simple: true }) as number;
  handle.pragma(`max_page_count = ${pages + 5}`); // room for a small write
  await clock.advance(2000);
  await expect(writes.check()).rejects.toMatchObject({ code: 'store-unavailable' });
  handle.pragma('max_page_count = 100000');
  await expect(writes.check()).rejects.toMatchObject({ code: 'store-unavailable' });
  await clock.advance(2000);
  await expect(writes.check()).resolves.toBeUndefined();
});

test('a store with room for small writes alone takes no delivery', async () => {
  const { writes, handle } = setUp();
  await expect(writes.checkRoom()).resolves.toBeUndefined();
  handle.exec('VACUUM');
  const pages = handle.pragma('page_count', { simple: true }) as number;
  handle.pragma(`max_page_count = ${pages + 5}`);
  await expect(writes.checkRoom()).rejects.toMatchObject({ code: 'store-unavailable' });
});

test('a write that the store took ends the failure', async () => {
  const { writes } = setUp();
  await writes.check();
  await writes.watch(Promise.reject(full)).catch(() => undefined);
  await writes.watch(Promise.resolve());
  await expect(writes.check()).resolves.toBeUndefined();
});

test('trying leaves nothing in the store, and its schema alone', async () => {
  const { writes, clock, handle } = setUp();
  const version = () => handle.pragma('schema_version', { simple: true });
  const before = version();
  await writes.watch(Promise.reject(full)).catch(() => undefined);
  await clock.advance(2000);
  await writes.check();
  expect(version()).toBe(before);
  const filled = handle.prepare('SELECT length(filler) FROM write_check').pluck();
  expect(filled.all()).toEqual([0]);
});

test('what is no fault of the store is passed on and not held against it', async () => {
  const { writes } = setUp();
  const refused = new TrackportError('validation-failed');
  await expect(writes.watch(Promise.reject(refused))).rejects.toBe(refused);
  await expect(writes.watch(Promise.resolve(7))).resolves.toBe(7);
  await expect(writes.check()).resolves.toBeUndefined();
});

test('another process that writes for a moment is waited for', async () => {
  const { writes, database } = setUp();
  const other = connectTo(database.handle.name);
  other.handle.exec('BEGIN IMMEDIATE');
  const checked = writes.check();
  setImmediate(() => other.handle.exec('ROLLBACK'));
  await expect(checked).resolves.toBeUndefined();
});
