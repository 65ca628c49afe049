import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/folder.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';
import { backUpTo, fillAudit, leftovers } from './support.ts';

function auditIn(file: string): number | undefined {
  const handle = new BetterSqlite3(file, { readonly: true });
  try {
    return handle.prepare<[], number>('SELECT COUNT(*) FROM audit').pluck().get();
  } finally {
    handle.close();
  }
}

test('a backup is the store as it was when it began, while another process writes all the time', async () => {
  const database = temporaryDatabase();
  fillAudit(database, 12_000);
  const other = connectTo(database.handle.name);
  let writes = 0;
  const file = await backUpTo(database, {
    onProgress: () => {
      fillAudit(other, 1);
      writes += 1;
    },
  });
  expect(writes).toBeGreaterThan(2);
  expect(auditIn(file)).toBe(12_000);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(leftovers(file)).toEqual([]);
});

test('a file that is there stays as it is, unless the caller says otherwise', async () => {
  const database = temporaryDatabase();
  const file = path.join(temporaryFolder(), 'copy.backup');
  writeFileSync(file, 'precious');
  await expect(backUpTo(database, { file })).rejects.toMatchObject({
    code: 'bad-request',
    detail: `${file} is there already. Name another, or use --force.`,
  });
  expect(readFileSync(file, 'utf8')).toBe('precious');
  await backUpTo(database, { file, isForced: true });
  expect(auditIn(file)).toBe(0);
});

/** Kinds of things at a path that are no regular file. */
const odd: [string, (file: string) => unknown][] = [
  ['a folder', (file) => mkdirSync(file)],
  ['a FIFO', (file) => execFileSync('mkfifo', [file])],
  ['a link to a device', (file) => symlinkSync('/dev/null', file)],
  ['a link to a file', (file) => symlinkSync(import.meta.filename, file)],
  ['a link to nothing', (file) => symlinkSync('nothing', file)],
];

test.each(odd)('%s is not replaced, whatever the caller says', async (_what, make) => {
  const file = path.join(temporaryFolder(), 'copy.backup');
  make(file);
  const before = lstatSync(file);
  for (const isForced of [true, false])
    await expect(backUpTo(temporaryDatabase(), { file, isForced })).rejects.toMatchObject({
      code: 'bad-request',
      detail: `${file} is no regular file, and is not replaced. Name another.`,
    });
  expect([lstatSync(file).ino, lstatSync(file).mode]).toEqual([before.ino, before.mode]);
  expect(leftovers(file)).toEqual([]);
});

test('a file that appears meanwhile is not replaced either', async () => {
  const file = path.join(temporaryFolder(), 'copy.backup');
  const onProgress = () => writeFileSync(file, 'precious');
  await expect(backUpTo(temporaryDatabase(), { file, onProgress })).rejects.toMatchObject({
    code: 'bad-request',
  });
  expect(readFileSync(file, 'utf8')).toBe('precious');
  expect(leftovers(file)).toEqual([]);
});

test.each(['', '-wal', '-shm', '-journal', '.key', '.lock', '.lock-journal', '.lock.json'])(
  'the store itself is no place for a backup (%j)',
  async (ending) => {
    const database = temporaryDatabase();
    const file = `${database.handle.name}${ending}`;
    await expect(backUpTo(database, { file, isForced: true })).rejects.toMatchObject({
      code: 'bad-request',
    });
    expect(database.handle.pragma('integrity_check', { simple: true })).toBe('ok');
  },
);

test.each(['.bak', '-2026', '.key.bak'])('what is named like it is one (%j)', async (ending) => {
  const database = temporaryDatabase();
  const file = `${database.handle.name}${ending}`;
  await backUpTo(database, { file });
  await backUpTo(database, { file, isForced: true });
  expect(auditIn(file)).toBe(0);
});

test('what is no store of ours, or is not there, is not backed up and not made', async () => {
  const folder = temporaryFolder();
  const missing = path.join(folder, 'missing.db');
  const file = path.join(folder, 'copy.backup');
  const database = temporaryDatabase();
  await expect(backUpTo(database, { storePath: missing, file })).rejects.toMatchObject({
    code: 'store-unavailable',
  });
  expect(existsSync(missing)).toBe(false);
  const foreign = path.join(folder, 'foreign.db');
  const handle = new BetterSqlite3(foreign);
  handle.exec('CREATE TABLE notes (text TEXT)');
  handle.close();
  await expect(backUpTo(database, { storePath: foreign, file })).rejects.toMatchObject({
    code: 'store-unavailable',
  });
  expect(existsSync(file)).toBe(false);
  expect(leftovers(file)).toEqual([]);
});
