import {
  copyFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, openConnection } from '#adapters/sqlite/connection/connection.ts';
import { temporaryFolder } from '../../../support/folder.ts';

type Opened = Connection & { file: string; write: () => unknown; count: () => unknown };

function openNotes(): Opened {
  const file = path.join(temporaryFolder(), 'store', 'notes.db');
  const connection = openConnection(file);
  onTestFinished(() => connection.close());
  const { handle } = connection;
  handle.exec('CREATE TABLE note (id INTEGER PRIMARY KEY)');
  const write = (): unknown =>
    connection.transaction(() => handle.exec('INSERT INTO note DEFAULT VALUES'));
  const count = (): unknown => handle.prepare('SELECT count(*) FROM note').pluck().get();
  return { ...connection, file, write, count };
}

const moved = expect.objectContaining({ code: 'store-unavailable', retryAfterSeconds: 1 });

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
])('a file that was %s while it is open takes no writes', (_what, disturb) => {
  const { file, write, count, handle } = openNotes();
  write();
  handle.pragma('wal_checkpoint(TRUNCATE)');
  write(); // sees how long the file has become
  disturb(file);
  expect(write).toThrow(moved);
  expect(count()).toBe(2);
});

test('nor one that goes in the middle of a write', async () => {
  const notes = openNotes();
  const { file, handle, count } = notes;
  const insertAndRemove = (): void => {
    handle.exec('INSERT INTO note DEFAULT VALUES');
    rmSync(file, { force: true });
  };
  expect(() => notes.transaction(insertAndRemove)).toThrow(moved);
  await expect(notes.transactionNow(insertAndRemove)).rejects.toEqual(moved);
  expect(count()).toBe(0);
});

test.each(['-wal', '-shm'])('neither does one whose %s file is not in its place', (suffix) => {
  const { file, write, count } = openNotes();
  write();
  renameSync(`${file}${suffix}`, `${file}.away`);
  expect(write).toThrow(moved);
  copyFileSync(`${file}.away`, `${file}${suffix}`);
  expect(write).toThrow(moved);
  renameSync(`${file}.away`, `${file}${suffix}`);
  write();
  expect(count()).toBe(2);
});

test('nor one that is reached by a link', () => {
  const { file } = openNotes();
  const link = path.join(temporaryFolder(), 'link.db');
  symlinkSync(file, link);
  const linked = openConnection(link);
  onTestFinished(() => linked.close());
  rmSync(`${file}-wal`);
  expect(() => linked.transaction(() => undefined)).toThrow(moved);
});

test('what was written before the log lost its place is in the file after the close', () => {
  const notes = openNotes();
  const { file, write } = notes;
  write();
  rmSync(`${file}-wal`);
  expect(write).toThrow(moved);
  notes.close();
  const later = openConnection(file);
  onTestFinished(() => later.close());
  expect(later.handle.prepare('SELECT count(*) FROM note').pluck().get()).toBe(1);
});

test('a file that is put back takes writes again', () => {
  const { file, write, count } = openNotes();
  renameSync(file, `${file}.away`);
  expect(write).toThrow(moved);
  renameSync(`${file}.away`, file);
  write();
  expect(count()).toBe(1);
});
