import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '#adapters/postgres/server.ts';
import { createWriteCheck } from '#adapters/write-check.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/folder.ts';
import { connectToPostgres } from '../support/postgres/database.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { connectTo, temporaryDatabase } from '../support/stores.ts';

function setUp() {
  const database = temporaryDatabase();
  const { handle } = database.writing;
  const clock = createFakeClock();
  const writes = createWriteCheck(database, clock);
  return { database, clock, writes, handle };
}

const full = new TrackportError('store-unavailable', { detail: 'The store has no space left.' });

test('a well store gets one small write in ten seconds, however often it is asked', async () => {
  const { writes, clock, handle } = setUp();
  const logBytes = (): number => statSync(`${handle.name}-wal`).size;
  await writes.check();
  const [before, aPage] = [logBytes(), 4096];
  await clock.advance(9999);
  await Promise.all(Array.from({ length: 20 }, () => writes.check()));
  expect(logBytes()).toBe(before);
  await clock.advance(1);
  await Promise.all(Array.from({ length: 20 }, () => writes.check()));
  expect(logBytes() - before).toBeGreaterThan(aPage);
  expect(logBytes() - before).toBeLessThan(2 * aPage);
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

test('trying leaves a few bytes in the store, and its schema alone', async () => {
  const { writes, clock, handle } = setUp();
  const version = () => handle.pragma('schema_version', { simple: true });
  const before = version();
  await writes.watch(Promise.reject(full)).catch(() => undefined);
  await clock.advance(2000);
  await writes.check();
  expect(version()).toBe(before);
  const filled = handle.prepare('SELECT length(filler) FROM write_check').pluck();
  expect(filled.all()).toEqual([16]);
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

const MIB = 1024 * 1024;

/** A folder on a small disk of its own; undefined where this user may mount none. */
function smallDisk(): string | undefined {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755); // the server runs as another user
  const disk = path.join(folder, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', disk]));
  return disk;
}

test('on PostgreSQL a store whose disk is full fails until there is room for a delivery, not for a few bytes', async (context) => {
  const disk = smallDisk();
  context.skip(disk === undefined, 'only root can mount a small disk');
  if (disk === undefined) return;
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const admin = await connectToPostgres(server);
  const data = await admin.get<{ dataDirectory: string }>('SHOW data_directory');
  const { uid, gid } = statSync(data?.dataDirectory ?? '');
  const space = path.join(disk, 'space');
  mkdirSync(space);
  chownSync(space, uid, gid);
  await admin.run(`CREATE TABLESPACE small LOCATION '${space}'`, {});
  await admin.run('CREATE DATABASE small TEMPLATE template0 TABLESPACE small', {});
  const url = new URL(server.url);
  url.pathname = '/small';
  const database = await connectToPostgres({ url: url.href });
  onTestFinished(() => database.close());
  await migrate({ database, log: silentLog });
  const clock = createFakeClock();
  const writes = createWriteCheck(database, clock);
  await writes.check();

  const filler = path.join(disk, 'filler');
  for (let left = 32; ; left -= 1)
    try {
      writeFileSync(`${filler}-${left}`, Buffer.alloc(MIB));
    } catch {
      break;
    }
  await expect(writes.checkRoom()).rejects.toMatchObject({ detail: full.detail });
  await writes.watch(Promise.reject(full)).catch(() => undefined);
  for (const _time of [1, 2, 3]) {
    await clock.advance(2000);
    await expect(writes.check()).rejects.toMatchObject({ detail: full.detail });
  }
  for (let left = 32; left > 0; left -= 1) rmSync(`${filler}-${left}`, { force: true });
  await clock.advance(2000);
  await writes.check();
});
