import { readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { toSqlite } from '#adapters/sqlite/statements.ts';
import {
  receiptConditions,
  type ReceiptFilter,
  listReceipts,
} from '#partners/receipts/read-receipts.ts';
import { describeReceipts } from '../../../contract/receipts.ts';
import {
  connectTo,
  temporaryDatabase,
  threadedDatabase,
  withCommits,
} from '../../../support/stores.ts';
import { receiptsIn, sealer } from '../../../support/partners.ts';
import { openReceiptFixture } from '../../../contract/receipt-fixture.ts';
import { purgeReceipts } from '#partners/receipts/purge-receipts.ts';
import { openWorld } from '../../../support/world.ts';

describeReceipts('SQLite, written by a thread', async () => {
  const database = threadedDatabase();
  return openReceiptFixture(database, connectTo(database.handle.name));
});

/** Accepts through the use case, as the route does. */
const acceptInto = (database: SqliteDatabase, body: string) =>
  openWorld({ database }).deliver(body);

describe('what reaches the file', () => {
  test('holds no e-mail, name or message, in clear or as a plain hash', async () => {
    const database = temporaryDatabase();
    await acceptInto(
      database,
      `[
        {"externalId":"ada@example.com","email":"ada@example.com","name":"Ada Lovelace"},
        {"eventId":"ada@example.com","correlationId":"ada@example.com","leadId":1},
        {"eventType":"ada@example.com","externalId":"42","note":"a private message"}
      ]`,
    );
    const { name } = database.handle;
    const bytes = [name, `${name}-wal`].map((file) => readFileSync(file).toString('latin1')).join();
    for (const secret of ['ada@', 'example.com', 'Lovelace', 'private message'])
      expect(bytes).not.toContain(secret);
  });

  test('tells two deliveries of the same bytes apart', async () => {
    const first = sealer.seal('r/0', Buffer.from('same'));
    expect(sealer.seal('r/0', Buffer.from('same'))).not.toEqual(first);
  });

  test('cannot be moved to another event or altered', () => {
    const sealed = sealer.seal('r/0', Buffer.from('bytes'));
    expect(sealer.open('r/0', sealed).toString()).toBe('bytes');
    expect(() => sealer.open('r/1', sealed)).toThrow();
    for (let at = 0; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(() => sealer.open('r/0', altered)).toThrow();
    }
    expect(() => sealer.open('r/0', sealed.subarray(0, 20))).toThrow();
  });
});

test('a delivery is accepted only after its commit', async () => {
  const database = temporaryDatabase();
  const other = connectTo(database.handle.name);
  const accepted = await acceptInto(database, '{"externalId":"1"}');
  const seen = other.handle.prepare('SELECT count(*) FROM receipt WHERE id = ?').pluck();
  expect(seen.get(accepted.receipt.id)).toBe(1);
});

describe('a large store', () => {
  test('finds due work, repeats, dead letters and pages by an index', () => {
    const { handle } = temporaryDatabase();
    const plan = (sql: string) =>
      handle
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail)
        .join('\n');
    const queries = [
      'SELECT event FROM same_event WHERE id_key = 1 AND person_key = 1 AND key = 1',
      `DELETE FROM same_event WHERE (id_key, person_key, key) IN
       (SELECT id_key, person_key, key FROM same_event WHERE first_seen_at < 1 LIMIT 9)`,
      'SELECT number FROM receipt WHERE partner_id = 1 AND number < 9 ORDER BY number DESC',
      'SELECT number FROM receipt WHERE status = 1 AND number < 9 ORDER BY number DESC',
      `SELECT receipt.id FROM event CROSS JOIN receipt ON receipt.number = event.receipt
       WHERE event.outcome = 'FAILED' AND receipt.partner_id = 'x' AND event.receipt < 9
       GROUP BY event.receipt ORDER BY event.receipt DESC LIMIT 9`,
      `SELECT receipt.id FROM receipt WHERE receipt.partner_id = 'x' AND receipt.number < 9
       GROUP BY receipt.number ORDER BY receipt.number DESC LIMIT 9`,
      `UPDATE event SET payload = NULL WHERE id IN
       (SELECT id FROM event WHERE payload IS NOT NULL AND completed_at < 1 LIMIT 9)`,
      `SELECT due_at FROM event WHERE stage = 'match' AND outcome = 'PENDING' AND lease_token IS NULL
       ORDER BY due_at LIMIT 1`,
      'SELECT number FROM claim WHERE repository_id = 1 AND event = 1 AND released_at IS NULL',
      'DELETE FROM claim WHERE event = 1 AND released_at IS NOT NULL',
    ];
    for (const sql of queries) {
      expect(plan(sql)).toContain('USING');
      expect(plan(sql)).not.toMatch(/SCAN|TEMP B-TREE/);
    }
  });

  test('is purged to the end, and others get their turn meanwhile', async () => {
    const local = temporaryDatabase();
    let commits = 0;
    const database = withCommits(local, (commit) => {
      commits += 1;
      return commit();
    });
    database.handle.exec(`
      INSERT INTO receipt (number, id, partner_id, path, event_type, correlation_id, status, received_at)
      VALUES (1, 'id', 'crm-one', 'deletions', 'lead.deletion', 'c', 'FAILED', 1);
      WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 2500)
      INSERT INTO event (receipt, position, outcome, completed_at, payload, is_deletion)
      SELECT 1, value, 'FAILED', 1, x'00', true FROM n;
      INSERT INTO same_event (id_key, person_key, key, event, first_seen_at)
      SELECT randomblob(16), randomblob(16), randomblob(32), id, 1 FROM event`);
    const store = receiptsIn(database);
    expect(await purgeReceipts(store.db, 2)).toEqual({ keys: 2500, payloads: 2500 });
    expect(commits).toBe(9);
  });

  test('its file is not world-readable', () => {
    const { handle } = temporaryDatabase();
    expect(statSync(handle.name).mode & 0o077).toBe(0);
  });
});

describe('a filter on a large store', () => {
  const leaderOf = async (database: SqliteDatabase, filter: ReceiptFilter) =>
    toSqlite((await receiptConditions(database, filter)).from)
      .split(' ')
      .slice(0, 4)
      .join(' ');

  /** 3000 receipts, DONE and of one partner but for three. */
  function large(): SqliteDatabase {
    const database = temporaryDatabase();
    database.handle.exec(`
      WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 3000)
      INSERT INTO receipt (number, id, partner_id, path, event_type, correlation_id, status, received_at)
      SELECT value, value, iif(value % 1000 = 0, 'rare', 'usual'), 'deletions', 't', value,
        iif(value % 1000 = 1, 'FAILED', 'PROCESSED'), value FROM n;
      INSERT INTO event (receipt, position, outcome, completed_at, is_deletion)
      SELECT number, 0, iif(status = 'FAILED', 'FAILED', 'DONE'), 1, true FROM receipt`);
    return database;
  }

  test('is led by the index that finds the fewest', async () => {
    const database = large();
    expect(await leaderOf(database, { outcome: 'DONE', partnerId: 'rare' })).toBe(
      'receipt INDEXED BY receipt_by_partner',
    );
    expect(await leaderOf(database, { outcome: 'FAILED', partnerId: 'usual' })).toBe(
      'event INDEXED BY event_by_outcome',
    );
    expect(await leaderOf(database, { status: 'FAILED', partnerId: 'usual' })).toBe(
      'receipt INDEXED BY receipt_by_status',
    );
    expect(await leaderOf(database, { status: 'PROCESSED', partnerId: 'rare' })).toBe(
      'receipt INDEXED BY receipt_by_partner',
    );
    expect(await leaderOf(database, { correlationId: '7', outcome: 'DONE' })).toBe(
      'receipt INDEXED BY receipt_by_correlation',
    );
  });

  test.each<[ReceiptFilter, number]>([
    [{ outcome: 'DONE', partnerId: 'rare' }, 3],
    [{ outcome: 'FAILED', partnerId: 'usual' }, 3],
    [{ outcome: 'FAILED', partnerId: 'rare' }, 0],
    [{ status: 'PROCESSED', outcome: 'DONE', partnerId: 'rare', since: 2000 }, 2],
    [{ since: 2991 }, 10],
  ])('finds the same whatever leads: %j', async (filter, count) => {
    const store = receiptsIn(large());
    expect(await listReceipts(store.db, { filter, limit: 100 })).toHaveLength(count);
  });

  test('does not read what is older or newer than its time', async () => {
    const database = large();
    const valuesOf = async (filter: ReceiptFilter) =>
      (await receiptConditions(database, filter)).values;
    expect(await valuesOf({ since: 2991 })).toMatchObject({ first: 2991, last: 3000 });
    expect(await valuesOf({ since: 5, before: 11 })).toMatchObject({ first: 5, last: 10 });
  });
});
