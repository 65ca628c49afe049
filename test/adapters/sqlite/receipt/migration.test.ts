/** The migration that copies the receipts, on a store that a version before it had filled. */
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LocalDatabase } from '#adapters/sqlite/connection/database.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { createReceiptStore } from '#adapters/store/receipt/receipt-store.ts';
import { silentLog as log } from '#shared/log.ts';
import { readMigrations } from '#adapters/store/migrations.ts';
import { payloadKey, sealer } from '../../../support/partners.ts';
import { temporaryFolder } from '../../../support/folder.ts';
import { connectTo } from '../../../support/stores.ts';
import { REPOSITORY } from '../../../support/directory.ts';

const BEFORE = 4;

/** Four receipts: one that waits, one done, one that found nobody, one that was given back. */
async function filledBefore(): Promise<LocalDatabase> {
  const database = connectTo(path.join(temporaryFolder(), 'trackport.db'));
  await migrate(
    { database, log },
    readMigrations('migrations/sqlite').filter(({ number }) => number <= BEFORE),
  );
  const { handle } = database;
  const insertReceipt = handle.prepare(`
    INSERT INTO receipt (number, id, partnerId, path, eventType, correlationId, status, receivedAt)
    VALUES (?, ?, 'crm-one', 'deletions', 'lead.deletion', 'c', ?, 1)`);
  const insertEvent = handle.prepare(`
    INSERT INTO event (id, receipt, position, eventId, outcome, leadIds, attempts, lastError,
      completedAt, payload, dueAt, progress, again)
    VALUES (@id, @receipt, @position, @eventId, @outcome, @leadIds, 3, @lastError, @completedAt,
      @payload, @dueAt, @progress, 0)`);
  const event = (id: number, receipt: number, outcome: string, facts: object = {}) => {
    const isPending = outcome === 'PENDING';
    insertEvent.run({
      id,
      receipt,
      position: id,
      eventId: `e${id}`,
      outcome,
      leadIds: null,
      lastError: null,
      payload: null,
      progress: null,
      completedAt: isPending ? null : 5,
      dueAt: isPending ? 7 : null,
      ...facts,
    });
  };
  for (const [index, status] of ['ACCEPTED', 'PROCESSED', 'PROCESSED', 'PROCESSED'].entries())
    insertReceipt.run(index + 1, `r${index + 1}`, status);
  event(11, 1, 'PENDING', { payload: sealer.seal('r1/11', Buffer.from('bytes')) });
  event(12, 2, 'DONE', { leadIds: '["24","25"]' });
  event(13, 2, 'IGNORED');
  event(14, 3, 'DONE');
  event(15, 3, 'REJECTED', { lastError: 'names-nobody' });
  event(16, 4, 'UNMATCHED', { leadIds: '["24"]', lastError: 'claim-released' });
  handle
    .prepare('INSERT INTO same_event (key, event, firstSeenAt) VALUES (?, 12, 1)')
    .run(Buffer.from('key'));
  handle
    .prepare(`INSERT INTO claim (repositoryId, number, receiptId, event, claimedAt, removedAt,
      approved, labels, releasedAt) VALUES (1, 24, 'r4', 16, 1, 1, 1, '[]', 2)`)
    .run();
  return database;
}

test('keeps every row, and no reference is broken', async () => {
  const database = await filledBefore();
  const { handle } = database;
  const countOf = (table: string) => handle.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const tables = ['receipt', 'event', 'same_event', 'claim'];
  const before = tables.map(countOf);
  await migrate({ database, log });
  expect(tables.map(countOf)).toEqual(before);
  expect(handle.pragma('foreign_key_check')).toEqual([]);
  expect(handle.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(() => handle.prepare('DELETE FROM receipt WHERE number = 1').run()).toThrow(/FOREIGN KEY/);
  expect(() => handle.prepare('DELETE FROM event WHERE id = 12').run()).toThrow(/FOREIGN KEY/);
});

test('keeps what an event waits for and what became of it', async () => {
  const database = await filledBefore();
  const { handle } = database;
  await migrate({ database, log });
  const row = handle
    .prepare<[], { payload: Buffer; dueAt: number; stage: string; attempts: number }>(
      'SELECT payload, due_at AS dueAt, stage, attempts FROM event WHERE id = 11',
    )
    .get();
  expect(row).toMatchObject({ dueAt: 7, stage: 'match', attempts: 3 });
  expect(row && sealer.open('r1/11', row.payload).toString()).toBe('bytes');
  const receipts = createReceiptStore(database, { payloadKey, repository: REPOSITORY });
  expect((await receipts.read('r2'))?.events[0]).toEqual({
    position: 12,
    isReplayable: false,
    isProvisional: false,
    names: [],
    history: [],
    eventId: 'e12',
    outcome: 'DONE',
    leadIds: ['24', '25'],
    attempts: 3,
    completedAt: 5,
  });
});

test('tells which receipts found or named nobody, and what was given back', async () => {
  const database = await filledBefore();
  await migrate({ database, log });
  const receipts = createReceiptStore(database, { payloadKey, repository: REPOSITORY });
  const read = await Promise.all(['r1', 'r2', 'r3', 'r4'].map((id) => receipts.read(id)));
  expect(read.map((receipt) => receipt?.status)).toEqual([
    'ACCEPTED',
    'PROCESSED',
    'UNMATCHED',
    'UNMATCHED',
  ]);
  expect(read[3]?.events[0]?.note).toBe('claim-released');
});

test('knows the receipts of each lead, and goes on to know them', async () => {
  const database = await filledBefore();
  const { handle } = database;
  await migrate({ database, log });
  const leads = () =>
    handle.prepare('SELECT number, receipt, event FROM event_lead ORDER BY 1, 2').raw().all();
  expect(leads()).toEqual([
    [24, 2, 12],
    [24, 4, 16],
    [25, 2, 12],
  ]);
  handle.prepare(`UPDATE event SET lead_ids = '["25","26"]' WHERE id = 12`).run();
  handle.prepare('UPDATE event SET lead_ids = NULL WHERE id = 16').run();
  expect(leads()).toEqual([
    [25, 2, 12],
    [26, 2, 12],
  ]);
});
