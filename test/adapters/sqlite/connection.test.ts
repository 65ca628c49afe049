import {
  copyFileSync,
  existsSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Connection, openConnection } from '#adapters/sqlite/connection.ts';
import { lockForCommand } from '#adapters/sqlite/service-lock.ts';
import { temporaryFolder } from '../../support/folder.ts';

type Handle = Connection['handle'];

function inTransaction(
  { handle, commit }: Connection,
  sql: string,
  between = (): void => {},
): void {
  handle.exec('BEGIN IMMEDIATE');
  try {
    handle.exec(sql);
    between();
    commit();
  } finally {
    if (handle.inTransaction) handle.exec('ROLLBACK');
  }
}

type Opened = Connection & { file: string; write: () => Promise<void>; count: () => unknown };

function openNotes(): Opened {
  const file = path.join(temporaryFolder(), 'store', 'notes.db');
  const connection = openConnection(file);
  onTestFinished(() => connection.close());
  const { handle } = connection;
  handle.exec('CREATE TABLE note (id INTEGER PRIMARY KEY)');
  const write = async (): Promise<void> =>
    inTransaction(connection, 'INSERT INTO note DEFAULT VALUES');
  const count = (): unknown => handle.prepare('SELECT count(*) FROM note').pluck().get();
  return { ...connection, file, write, count };
}

/** 200 KB more, and one note. */
async function openLargeNotes(): Promise<Opened> {
  const notes = openNotes();
  notes.handle.exec('CREATE TABLE big (value); INSERT INTO big VALUES (zeroblob(200000))');
  await notes.write();
  return notes;
}

const moved = expect.objectContaining({ code: 'ESTALE' });

test.each([
  ['removed', (file: string) => rmSync(file)],
  [
    'moved with its folder',
    (file: string) => renameSync(path.dirname(file), `${path.dirname(file)}.old`),
  ],
  [
    'replaced by another one',
    (file: string) => {
      renameSync(file, `${file}.old`);
      writeFileSync(file, '');
    },
  ],
  ['cut off', (file: string) => truncateSync(file, 100)],
])('a file that was %s while it is open takes no writes', async (_what, disturb) => {
  const { file, write, count, handle } = openNotes();
  await write();
  handle.pragma('wal_checkpoint(TRUNCATE)');
  await write(); // sees how long the file has become
  disturb(file);
  await expect(write()).rejects.toEqual(moved);
  expect(count()).toBe(2);
});

test('a file that was cut off takes none either when another process has written to it since', async () => {
  const { file, write, handle } = await openLargeNotes();
  handle.pragma('wal_checkpoint(TRUNCATE)');
  await write();
  const other = openConnection(file);
  onTestFinished(() => other.close());
  truncateSync(file, 8192);
  other.handle.exec('INSERT INTO note DEFAULT VALUES');
  await expect(write()).rejects.toEqual(moved);
});

test.each([
  ['and moves it into the file', (handle: Handle) => handle.pragma('wal_checkpoint(TRUNCATE)')],
  ['and leaves it in the log', () => undefined],
])('a file that another process makes smaller %s takes writes', async (_what, then) => {
  const { file, write, count, handle } = await openLargeNotes();
  handle.exec('DELETE FROM big; PRAGMA wal_checkpoint(TRUNCATE)');
  await write();
  const other = openConnection(file);
  onTestFinished(() => other.close());
  const before = statSync(file).size;
  other.handle.exec('VACUUM');
  then(other.handle);
  await write();
  handle.pragma('wal_checkpoint(TRUNCATE)');
  expect(statSync(file).size).toBeLessThan(before);
  await write();
  expect(count()).toBe(4);
  truncateSync(file, 100);
  await expect(write()).rejects.toEqual(moved);
});

test('nor one that goes in the middle of a write', async () => {
  const notes = openNotes();
  const { file, count } = notes;
  const remove = (): void => rmSync(file, { force: true });
  expect(() => inTransaction(notes, 'INSERT INTO note DEFAULT VALUES', remove)).toThrow(moved);
  expect(count()).toBe(0);
});

test.each(['-wal', '-shm'])(
  'neither does one whose %s file is not in its place',
  async (suffix) => {
    const { file, write, count } = openNotes();
    await write();
    renameSync(`${file}${suffix}`, `${file}.away`);
    await expect(write()).rejects.toEqual(moved);
    copyFileSync(`${file}.away`, `${file}${suffix}`);
    await expect(write()).rejects.toEqual(moved);
    renameSync(`${file}.away`, `${file}${suffix}`);
    await write();
    expect(count()).toBe(2);
  },
);

test('nor one that is reached by a link', async () => {
  const { file } = openNotes();
  const link = path.join(temporaryFolder(), 'link.db');
  symlinkSync(file, link);
  const linked = openConnection(link);
  onTestFinished(() => linked.close());
  rmSync(`${file}-wal`);
  expect(() => inTransaction(linked, 'SELECT 1')).toThrow(moved);
});

test('what was written before the log lost its place is in the file after the close', async () => {
  const notes = openNotes();
  const { file, write } = notes;
  await write();
  rmSync(`${file}-wal`);
  await expect(write()).rejects.toEqual(moved);
  notes.close();
  const later = openConnection(file);
  onTestFinished(() => later.close());
  expect(later.handle.prepare('SELECT count(*) FROM note').pluck().get()).toBe(1);
});

test('a file that is put back takes writes again', async () => {
  const { file, write, count } = openNotes();
  renameSync(file, `${file}.away`);
  await expect(write()).rejects.toEqual(moved);
  renameSync(`${file}.away`, file);
  await write();
  expect(count()).toBe(1);
});

describe('in the place of a store that was moved away from its log', () => {
  const orphaned = expect.objectContaining({
    code: 'store-unavailable',
    detail: expect.stringContaining('put it back'),
  });

  test.each([
    ['who reads or writes', (file: string) => openConnection(file)],
    ['who wants it alone', (file: string) => lockForCommand(file)],
  ])(
    '%s makes no other one, so that what was acknowledged is there when it is back',
    async (_who, open) => {
      const { file, write, count } = openNotes();
      await write();
      renameSync(file, `${file}.away`);
      expect(() => open(file)).toThrow(orphaned);
      expect(existsSync(file)).toBe(false);
      renameSync(`${file}.away`, file);
      await write();
      expect(count()).toBe(2);
      const later = openConnection(file);
      onTestFinished(() => later.close());
      expect(later.handle.prepare('SELECT count(*) FROM note').pluck().get()).toBe(2);
    },
  );
});
