import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '#adapters/postgres/migrate.ts';
import { createWriteCheck } from '#adapters/postgres/write-check.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { connectToPostgres, temporaryPostgres } from '../../support/postgres/database.ts';
import { startPostgres } from '../../support/postgres/server.ts';

const full = new TrackportError('store-unavailable', { detail: 'The store has no space left.' });
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

test('a store whose disk is full fails until there is room for a delivery, not for a few bytes', async (context) => {
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

test('a delivery that is only tried is never there', async () => {
  const database = await temporaryPostgres();
  const writes = createWriteCheck(database, createFakeClock());
  await writes.checkRoom();
  for (const table of ['receipt', 'event'])
    expect(await database.all(`SELECT * FROM ${table}`)).toEqual([]);
});
