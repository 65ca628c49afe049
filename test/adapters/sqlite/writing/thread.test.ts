import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openThreadedDatabase, type SqliteDatabase } from '#adapters/sqlite/database.ts';
import { receiptsIn } from '../../../support/partners.ts';
import { startWritingThread } from '#adapters/sqlite/writing/writer.ts';
import type { ConsumerId } from '#access/consumers/consumer.ts';
import type { NewReceipt } from '#partners/intake/accept-delivery.ts';
import { newUuid } from '#shared/ids.ts';
import { createClaims } from '../../../support/claims.ts';
import { anyAudit, consumerWithKey } from '../../../access/support.ts';
import { leadStoreIn, openedDirectory } from '../../../support/directory.ts';
import {
  crashWriter,
  disturbWriter,
  letWritersBeDisturbed,
} from '../../../support/writer/disturb.ts';
import { consumersIn } from '../../../support/consumers.ts';
import { temporaryFolder } from '../../../support/folder.ts';
import { connectTo, temporaryDatabase, threadedDatabase } from '../../../support/stores.ts';
import { findConsumer, insertConsumer } from '#access/consumers/stored-consumers.ts';

/** Not closed by itself; what crashes is collected. */
async function disturbedDatabase() {
  letWritersBeDisturbed();
  const crashes: Error[] = [];
  const database = openThreadedDatabase({
    path: temporaryDatabase().handle.name,
    onCrash: (error) => void crashes.push(error),
  });
  await database.truncateWal(); // the thread is there
  return { database, crashes };
}

/** The directory knows leads 1 to 9. */
async function setUp(database: SqliteDatabase) {
  const local = connectTo(database.handle.name);
  await openedDirectory(local, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  return {
    database,
    path: database.handle.name,
    elsewhere: local.handle,
    receipts: receiptsIn(database),
    claims: createClaims(database),
    consumers: consumersIn(database),
    directory: leadStoreIn(database),
  };
}

const deletionOf = (number: number): NewReceipt => ({
  id: newUuid(),
  partnerId: 'crm-one',
  path: 'deletions',
  eventType: 'lead.deletion',
  correlationId: 'c',
  receivedAt: 1,
  createdBefore: 1,
  events: [
    {
      position: 0,
      sameEventKey: Buffer.from(`event ${number}`),
      outcome: 'PENDING',
      names: [{ kind: 'lead-id', number }],
      payload: Buffer.from('{}'),
      digest: Buffer.alloc(32),
    },
  ],
});

/** Commits in the write-ahead log: the frames that tell the size of the database. */
function commitsIn(path: string): number {
  const log = readFileSync(`${path}-wal`);
  const pageBytes = log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + 24 + pageBytes <= log.length; at += 24 + pageBytes)
    if (log.readUInt32BE(at + 4) > 0) commits += 1;
  return commits;
}

describe('a database whose writes a thread makes', () => {
  test('cannot be written by its own connection', async () => {
    const database = threadedDatabase();
    expect(() => database.handle.exec('DELETE FROM claim')).toThrow(
      expect.objectContaining({ code: 'SQLITE_READONLY' }),
    );
  });

  test('shows what was written to the next who reads, claims and keys alike', async () => {
    const { receipts, claims, consumers } = await setUp(threadedDatabase());
    const { consumer } = consumerWithKey();
    await expect.poll(() => consumers.accessVersion.current()).toBeDefined();
    const before = consumers.accessVersion.current();
    expect((await claims.current()).has(1)).toBe(false);
    await Promise.all([
      receipts.accept(deletionOf(1)),
      insertConsumer(consumers, { consumer, audit: anyAudit }),
    ]);
    expect((await claims.current()).has(1)).toBe(true);
    expect(consumers.accessVersion.current()).not.toBe(before);
    expect(await findConsumer(consumers.db, consumer.id)).toEqual(consumer);
  });

  test('reads on while a write waits for another process', async () => {
    const { receipts, claims, elsewhere } = await setUp(threadedDatabase());
    elsewhere.exec('BEGIN IMMEDIATE');
    const accepted = receipts.accept(deletionOf(1));
    for (let reads = 0; reads < 20; reads += 1) expect((await claims.current()).has(1)).toBe(false);
    elsewhere.exec('ROLLBACK');
    await accepted;
    expect((await claims.current()).has(1)).toBe(true);
  });

  test('commits at once the deliveries that come at the same time', async () => {
    const { receipts, elsewhere, path } = await setUp(threadedDatabase());
    elsewhere.pragma('wal_checkpoint(TRUNCATE)');
    await Promise.all([1, 2, 3].map((number) => receipts.accept(deletionOf(number))));
    expect(commitsIn(path)).toBe(1);
  });
});

describe('what fails in the thread', () => {
  test('is refused here with its code and facts', async () => {
    const { consumers } = await setUp(threadedDatabase());
    const { consumer } = consumerWithKey();
    const namesake = { ...consumer, id: 'c-9' as ConsumerId, keys: [] };
    await insertConsumer(consumers, { consumer, audit: anyAudit });
    const refused = insertConsumer(consumers, {
      consumer: namesake,
      audit: anyAudit,
      hasUniqueName: true,
    });
    await expect(refused).rejects.toMatchObject({
      code: 'validation-failed',
      errors: [{ pointer: '#/name' }],
    });
  });

  test('for the store’s sake is told with SQLite’s own code, and passes', async () => {
    const { database } = await disturbedDatabase();
    onTestFinished(() => database.close());
    const { receipts, path } = await setUp(database);
    await disturbWriter(path, 'query_only = ON');
    await expect(receipts.accept(deletionOf(1))).rejects.toMatchObject({
      code: 'store-unavailable',
      detail: 'The store cannot be written.',
      retryAfterSeconds: 1,
      cause: { code: 'SQLITE_READONLY' },
    });
    await disturbWriter(path, 'query_only = OFF');
    await receipts.accept(deletionOf(1));
  });

  test('because the file was moved away is told as what it is, until it is put back', async () => {
    const database = threadedDatabase();
    await database.truncateWal(); // the thread is there
    const { receipts, path } = await setUp(database);
    renameSync(path, `${path}.away`);
    await expect(receipts.accept(deletionOf(1))).rejects.toMatchObject({
      code: 'store-unavailable',
      detail: expect.stringContaining('was moved'),
      retryAfterSeconds: 1,
    });
    renameSync(`${path}.away`, path);
    await receipts.accept(deletionOf(1));
  });

  test('because its folder cannot be entered is told, too, until it can', async () => {
    const { database, crashes } = await disturbedDatabase();
    const { receipts, path } = await setUp(database);
    const folder = dirname(path);
    renameSync(folder, `${folder}.away`);
    symlinkSync(folder, folder); // root enters every folder, and no loop
    await expect(receipts.accept(deletionOf(1))).rejects.toMatchObject({
      code: 'store-unavailable',
      retryAfterSeconds: 1,
    });
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    await receipts.accept(deletionOf(1));
    await database.close();
    expect(crashes).toEqual([]);
  });

  test('at its start is a crash', async () => {
    const crashes: Error[] = [];
    const onCrash = (error: Error) => void crashes.push(error);
    const thread = startWritingThread({ path: temporaryFolder(), onCrash });
    await thread.close();
    expect(crashes).toMatchObject([{ code: 'store-unavailable' }]);
  });

  test('in a way that nobody foresaw is a crash, told once', async () => {
    const { database, crashes } = await disturbedDatabase();
    crashWriter(database.handle.name);
    await expect.poll(() => crashes).toMatchObject([{ message: 'a test wanted this' }]);
  });
});

test('a crash while it closes is a crash, too, and ends the wait for the end', async () => {
  const { database, crashes } = await disturbedDatabase();
  const { receipts, elsewhere, path } = await setUp(database);
  elsewhere.exec('BEGIN IMMEDIATE');
  // Fails when the wait for the lock ends before the thread does.
  void receipts.accept(deletionOf(1)).catch(() => undefined);
  const closed = database.close();
  crashWriter(path);
  await closed;
  expect(crashes).toMatchObject([{ message: 'a test wanted this' }]);
});

test('closing waits for all that was asked for, and it is on the disk', async () => {
  const { database, crashes } = await disturbedDatabase();
  const { receipts, elsewhere } = await setUp(database);
  elsewhere.exec('BEGIN IMMEDIATE');
  const accepted = [1, 2, 3].map((number) => receipts.accept(deletionOf(number)));
  await nextTurn();
  const closed = database.close();
  elsewhere.exec('ROLLBACK');
  await closed;
  expect(elsewhere.prepare('SELECT count(*) FROM receipt').pluck().get()).toBe(3);
  for (const acceptance of accepted) expect(await acceptance).toMatchObject({ kind: 'accepted' });
  await database.close();
  expect(crashes).toEqual([]);
});
