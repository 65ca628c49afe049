import { setImmediate as nextTurn } from 'node:timers/promises';
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createAuditLog } from '#adapters/store/audit-log.ts';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { receiptConditions } from '#adapters/sqlite/receipt/conditions.ts';
import { REFRESH_RECEIPT_STATUS } from '#adapters/sqlite/receipt/status.ts';
import { createReceiptStore } from '#adapters/sqlite/receipt/receipt-store.ts';
import { payloadIdentity } from '#partners/receipts/payload.ts';
import type { ReceiptFilter } from '#partners/receipts/receipt-store.ts';
import { describeReceiptStore } from '../../../contract/receipt-store.ts';
import type { EventState, ReceiptStoreFixture } from '../../../contract/receipt-store.ts';
import { connectTo, temporaryDatabase, threadedDatabase } from '../../../support/stores.ts';
import { REPOSITORY } from '../../../support/directory.ts';
import { buildPartners, payloadKey, sealer } from '../../../support/partners.ts';

function openFixture(database: Database): ReceiptStoreFixture {
  const { handle } = connectTo(database.handle.name);
  const eventOf = handle.prepare<[string, number], { id: number; receipt: number }>(
    `SELECT event.id, receipt FROM event JOIN receipt ON number = receipt
     WHERE receipt.id = ? AND position = ?`,
  );
  return {
    store: createReceiptStore({ database, payloadKey, repository: REPOSITORY }),
    settle: async (receiptId, { position = 0, outcome, at = 1, attempts = 1, ...more }) => {
      const found = eventOf.get(receiptId, position);
      if (!found) throw new Error('no such event');
      const leadIds = more.leadIds ? JSON.stringify(more.leadIds) : null;
      handle
        .prepare(
          `UPDATE event SET outcome = ?, completedAt = ?, lastError = ?, attempts = ?, dueAt = NULL,
           leadIds = coalesce(?, leadIds), payload = iif(? = 'DONE', NULL, payload) WHERE id = ?`,
        )
        .run(outcome, at, more.lastError ?? null, attempts, leadIds, outcome, found.id);
      handle.prepare(REFRESH_RECEIPT_STATUS).run(found.receipt);
    },
    begin: async (receiptId) => {
      handle
        .prepare("UPDATE event SET leaseToken = 'held', leaseUntil = 9 WHERE id = ?")
        .run(eventOf.get(receiptId, 0)?.id);
    },
    auditOf: async (subject) => createAuditLog(database).listOf(subject),
    stateOf: async (receiptId) =>
      handle
        .prepare<[string], Omit<EventState, 'payload'> & { payload: Buffer | null }>(
          `SELECT position, outcome, attempts, dueAt, again, payload
           FROM event JOIN receipt ON number = receipt WHERE receipt.id = ? ORDER BY position`,
        )
        .all(receiptId)
        .map((row) => ({ ...row, payload: unseal(receiptId, row) })),
  };
}

function unseal(receiptId: string, row: { position: number; payload: Buffer | null }) {
  const identity = payloadIdentity(receiptId, row.position);
  return row.payload === null ? undefined : sealer.open(identity, row.payload).toString();
}

describeReceiptStore('SQLite', async () => openFixture(temporaryDatabase()));

describeReceiptStore('SQLite, written by a thread', async () =>
  openFixture(await threadedDatabase()),
);

/** Accepts through the use case, as the route does. */
const acceptInto = (database: Database, body: string) => buildPartners({ database }).deliver(body);

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
      'SELECT event FROM same_event WHERE idKey = 1 AND personKey = 1 AND key = 1',
      `DELETE FROM same_event WHERE (idKey, personKey, key) IN
       (SELECT idKey, personKey, key FROM same_event WHERE firstSeenAt < 1 LIMIT 9)`,
      'SELECT number FROM receipt WHERE partnerId = 1 AND number < 9 ORDER BY number DESC',
      'SELECT number FROM receipt WHERE status = 1 AND number < 9 ORDER BY number DESC',
      `SELECT receipt.id FROM event CROSS JOIN receipt ON receipt.number = event.receipt
       WHERE event.outcome = 'FAILED' AND receipt.partnerId = 'x' AND event.receipt < 9
       GROUP BY event.receipt ORDER BY event.receipt DESC LIMIT 9`,
      `SELECT receipt.id FROM receipt WHERE receipt.partnerId = 'x' AND receipt.number < 9
       GROUP BY receipt.number ORDER BY receipt.number DESC LIMIT 9`,
      `UPDATE event SET payload = NULL WHERE id IN
       (SELECT id FROM event WHERE payload IS NOT NULL AND completedAt < 1 LIMIT 9)`,
      `SELECT dueAt FROM event WHERE stage = 'match' AND outcome = 'PENDING' AND leaseToken IS NULL
       ORDER BY dueAt LIMIT 1`,
      'SELECT number FROM claim WHERE repositoryId = 1 AND event = 1 AND releasedAt IS NULL',
      'DELETE FROM claim WHERE event = 1 AND releasedAt IS NOT NULL',
    ];
    for (const sql of queries) {
      expect(plan(sql)).toContain('USING');
      expect(plan(sql)).not.toMatch(/SCAN|TEMP B-TREE/);
    }
  });

  test('is purged to the end, and others get their turn meanwhile', async () => {
    const database = temporaryDatabase();
    database.handle.exec(`
      INSERT INTO receipt (number, id, partnerId, path, eventType, correlationId, status, receivedAt)
      VALUES (1, 'id', 'crm-one', 'deletions', 'lead.deletion', 'c', 'FAILED', 1);
      WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 2500)
      INSERT INTO event (receipt, position, outcome, completedAt, payload)
      SELECT 1, value, 'FAILED', 1, x'00' FROM n;
      INSERT INTO same_event (idKey, personKey, key, event, firstSeenAt)
      SELECT randomblob(16), randomblob(16), randomblob(32), id, 1 FROM event`);
    const store = createReceiptStore({ database, payloadKey, repository: REPOSITORY });
    let turns = 0;
    const purged = store.purge(2);
    const counting = (async () => {
      for (; turns < 3; turns += 1) await nextTurn();
    })();
    expect(await purged).toEqual({ keys: 2500, payloads: 2500 });
    expect(turns).toBe(3);
    await counting;
  });

  test('its file is not world-readable', () => {
    const { handle } = temporaryDatabase();
    expect(statSync(handle.name).mode & 0o077).toBe(0);
  });
});

describe('a filter on a large store', () => {
  const leaderOf = (database: Database, filter: ReceiptFilter) =>
    receiptConditions(database.handle, filter).from.split(' ').slice(0, 4).join(' ');

  /** 3000 receipts, DONE and of one partner but for three. */
  function large(): Database {
    const database = temporaryDatabase();
    database.handle.exec(`
      WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 3000)
      INSERT INTO receipt (number, id, partnerId, path, eventType, correlationId, status, receivedAt)
      SELECT value, value, iif(value % 1000 = 0, 'rare', 'usual'), 'deletions', 't', value,
        iif(value % 1000 = 1, 'FAILED', 'PROCESSED'), value FROM n;
      INSERT INTO event (receipt, position, outcome, completedAt)
      SELECT number, 0, iif(status = 'FAILED', 'FAILED', 'DONE'), 1 FROM receipt`);
    return database;
  }

  test('is led by the index that finds the fewest', () => {
    const database = large();
    expect(leaderOf(database, { outcome: 'DONE', partnerId: 'rare' })).toBe(
      'receipt INDEXED BY receipt_by_partner',
    );
    expect(leaderOf(database, { outcome: 'FAILED', partnerId: 'usual' })).toBe(
      'event INDEXED BY event_by_outcome',
    );
    expect(leaderOf(database, { status: 'FAILED', partnerId: 'usual' })).toBe(
      'receipt INDEXED BY receipt_by_status',
    );
    expect(leaderOf(database, { status: 'PROCESSED', partnerId: 'rare' })).toBe(
      'receipt INDEXED BY receipt_by_partner',
    );
    expect(leaderOf(database, { correlationId: '7', outcome: 'DONE' })).toBe(
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
    const store = createReceiptStore({ database: large(), payloadKey, repository: REPOSITORY });
    expect((await store.list(filter, 100)).receipts).toHaveLength(count);
  });

  test('does not read what is older than its time', () => {
    const { handle } = large();
    const { where, values } = receiptConditions(handle, { since: 2991 });
    expect([where.at(-1), values.at(-2)]).toEqual(['receipt.number BETWEEN ? AND ?', 2991]);
  });

  test('does not read what is newer than its time either', () => {
    const { handle } = large();
    const { where, values } = receiptConditions(handle, { since: 5, before: 11 });
    expect([where.at(-1), ...values.slice(-2)]).toEqual(['receipt.number BETWEEN ? AND ?', 5, 10]);
  });
});
