import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { restore } from '#adapters/sqlite/transfer/restore.ts';
import {
  digestTable,
  dropManifest,
  listTables,
  type TableDigest,
  writeManifest,
} from '#adapters/sqlite/transfer/manifest.ts';
import { silentLog } from '#shared/log.ts';
import type { OnProgress } from '#shared/progress.ts';
import { rulesCheckOf } from '#leads/directory/lead-directory.ts';
import {
  leadStoreIn,
  directoryKey,
  entry,
  leadRules,
  openedDirectory,
  REPOSITORY,
  REPOSITORY_ID,
  isKnown,
} from '../../../support/directory.ts';
import { temporaryFolder } from '../../../support/folder.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';
import { backUpTo, fillAudit, leftovers } from './support.ts';
import {
  completeCrawl,
  adoptRepository,
  putCrawled,
  putEntries,
} from '#leads/directory/write-directory.ts';
import { readDirectoryState } from '#leads/directory/directory-view.ts';

/** The backup of a store with 300 audit entries. */
async function smallBackup(): Promise<string> {
  const database = temporaryDatabase();
  fillAudit(database, 300);
  return backUpTo(database);
}

const newPath = (): string => path.join(temporaryFolder(), 'data', 'trackport.db');

const restoreTo = (storePath: string, file: string, onProgress: OnProgress = () => undefined) =>
  restore({ storePath, file, log: silentLog, onProgress });

function digests(file: string): TableDigest[] {
  const { handle } = connectTo(file);
  return listTables(handle).map((table) => digestTable(handle, table));
}

const refusal = (code: string, detail: RegExp) =>
  expect.objectContaining({ code, detail: expect.stringMatching(detail) as string });

/** Store after a refused restore: one that is empty or not there, and nothing half. */
function expectUntouched(storePath: string): void {
  expect(leftovers(storePath)).toEqual([]);
  const { handle } = connectTo(storePath);
  expect(listTables(handle)).toEqual([]);
}

test('a restored store holds what the backup held, row for row', async () => {
  const database = temporaryDatabase();
  fillAudit(database, 300);
  const before = digests(database.handle.name);
  const storePath = newPath();
  const restored = await restoreTo(storePath, await backUpTo(database));
  expect(restored).toMatchObject({ at: 1_790_000_000_000, version: '1.2.3', migrated: [] });
  expect(digests(storePath)).toEqual(before);
  expect(restored.rows).toBe(before.reduce((sum, { rows }) => sum + rows, 0));
  expect(existsSync(storePath)).toBe(true);
});

test('how many rows of the backup are checked is told on the way, and at the end', async () => {
  const database = temporaryDatabase();
  fillAudit(database, 25_000);
  const told: [number, number, string][] = [];
  const { rows } = await restoreTo(newPath(), await backUpTo(database), (done, total, unit) => {
    told.push([done, total, unit]);
  });
  const [, total = 0] = told[0] ?? [];
  expect(total).toBeGreaterThanOrEqual(rows);
  expect(told).toEqual([
    [10_000, total, 'rows checked'],
    [20_000, total, 'rows checked'],
    [total, total, 'rows checked'],
  ]);
});

test('the directory of a restored store is crawled anew and keeps its rows meanwhile', async () => {
  const database = temporaryDatabase();
  const directory = await openedDirectory(database);
  await putCrawled(directory, [entry(7)], 1);
  await completeCrawl(directory, 5);
  const storePath = newPath();
  await restoreTo(storePath, await backUpTo(database));
  const after = leadStoreIn(connectTo(storePath), { repository: REPOSITORY });
  await adoptRepository(after, REPOSITORY_ID, {
    rules: rulesCheckOf(leadRules, directoryKey),
    at: 9,
  });
  const state = await readDirectoryState(after);
  expect(state).toMatchObject({ isCrawling: true });
  expect(state?.completedAt).toBeUndefined();
  expect(await isKnown(after, 7)).toBe(true);
});

test('a store that another connection has open is not restored over, though it is idle', async () => {
  const file = await smallBackup();
  const storePath = newPath();
  const standby = openDatabase({ path: storePath });
  await expect(restoreTo(storePath, file)).rejects.toThrow(
    refusal('store-unavailable', /has the store open/),
  );
  await standby.close();
  expect((await restoreTo(storePath, file)).rows).toBeGreaterThan(300);
});

test('a store that holds anything is not restored over', async () => {
  const file = await smallBackup();
  const full = temporaryDatabase();
  fillAudit(full, 1);
  await full.close();
  await expect(restoreTo(full.handle.name, file)).rejects.toThrow(
    refusal('store-unavailable', /not empty \(audit\)/),
  );
});

test('a store that was started once and holds nothing but a directory is empty', async () => {
  const started = temporaryDatabase();
  await putEntries(await openedDirectory(started), [entry(1)]);
  await started.close();
  expect((await restoreTo(started.handle.name, await smallBackup())).rows).toBeGreaterThan(300);
});

test('a backup that was altered by one byte is refused', async () => {
  const file = await smallBackup();
  const bytes = readFileSync(file);
  const at = bytes.indexOf('consumer/123');
  bytes.write('consumer/124', at);
  writeFileSync(file, bytes);
  const storePath = newPath();
  await expect(restoreTo(storePath, file)).rejects.toThrow(
    refusal('bad-request', /not as it was made|damaged/),
  );
  expectUntouched(storePath);
});

test('a backup with another trigger than it was made with is refused', async () => {
  const file = await smallBackup();
  const handle = new BetterSqlite3(file);
  handle.exec('CREATE TRIGGER planted AFTER INSERT ON claim BEGIN DELETE FROM claim; END');
  handle.close();
  const storePath = newPath();
  await expect(restoreTo(storePath, file)).rejects.toThrow(
    refusal('bad-request', /not as it was made \(sqlite_schema\)/),
  );
  expectUntouched(storePath);
});

test.each([0, 100, 4096, 60_000])('a backup that was cut to %i bytes is refused', async (bytes) => {
  const file = await smallBackup();
  truncateSync(file, bytes);
  const storePath = newPath();
  await expect(restoreTo(storePath, file)).rejects.toThrow(
    refusal('bad-request', /cannot be restored/),
  );
  expectUntouched(storePath);
});

test.each([
  ['a folder', (file: string) => symlinkSync('/', file)],
  ['a FIFO that nobody writes to', (file: string) => execFileSync('mkfifo', [file])],
  ['a device without an end', (file: string) => symlinkSync('/dev/zero', file)],
])('%s is refused before it is opened', async (_what, make) => {
  const file = path.join(temporaryFolder(), 'copy.backup');
  make(file);
  const storePath = newPath();
  await expect(restoreTo(storePath, file)).rejects.toMatchObject({
    code: 'bad-request',
    detail: `${file} cannot be restored: it is no regular file.`,
  });
  expect(existsSync(storePath)).toBe(false);
});

test('a link to a backup is restored', async () => {
  const file = path.join(temporaryFolder(), 'latest');
  symlinkSync(await smallBackup(), file);
  expect((await restoreTo(newPath(), file)).rows).toBeGreaterThan(0);
});

test('what `backup` did not make is refused', async () => {
  const database = temporaryDatabase();
  await database.truncateWal();
  const file = path.join(temporaryFolder(), 'copy.db');
  copyFileSync(database.handle.name, file);
  const storePath = newPath();
  await expect(restoreTo(storePath, file)).rejects.toThrow(refusal('bad-request', /not made by/));
  expectUntouched(storePath);
});

test('a backup of a newer, breaking schema is refused', async () => {
  const database = temporaryDatabase();
  database.handle.exec("INSERT INTO migration VALUES (9000, '9000_later', 'breaking', 0)");
  const file = await backUpTo(database);
  const storePath = newPath();
  await expect(restoreTo(storePath, file)).rejects.toThrow(
    refusal('store-unavailable', /9000_later/),
  );
  expectUntouched(storePath);
});

test('a backup of a store that began otherwise is refused', async () => {
  const file = await backUpTo(temporaryDatabase());
  const handle = new BetterSqlite3(file);
  dropManifest(handle);
  handle.exec("UPDATE migration SET name = '0001_access'");
  writeManifest(handle, { at: 1, version: '0.2.0' }, () => undefined);
  handle.close();
  const storePath = newPath();
  await expect(restoreTo(storePath, file)).rejects.toThrow(
    refusal('bad-request', /of Trackport 0\.2\.0, whose stores begin otherwise/),
  );
  expectUntouched(storePath);
});
