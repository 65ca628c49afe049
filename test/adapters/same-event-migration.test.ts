/** The migration that gives the hashes of events one index, on stores that a version before it had filled. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { migrate as migratePostgres } from '#adapters/postgres/migrate.ts';
import { migrate as migrateSqlite } from '#adapters/sqlite/migrate.ts';
import { createReceiptStore } from '#adapters/store/receipt/receipt-store.ts';
import type { NewEvent, ReceiptStore } from '#partners/receipts/receipt-store.ts';
import { silentLog as log } from '#shared/log.ts';
import { readMigrations } from '#adapters/store/migrations.ts';
import { REPOSITORY } from '../support/directory.ts';
import { temporaryFolder } from '../support/folder.ts';
import { acceptEvent, payloadKey } from '../support/partners.ts';
import { connectToPostgres, emptyPostgres } from '../support/postgres/database.ts';
import { connectTo } from '../support/stores.ts';

const hash = (name: string, bytes = 16): Buffer => Buffer.alloc(bytes, name);
const hex = (bytes: Buffer): string => bytes.toString('hex');

const withId = {
  sameEventKey: hash('event', 32),
  idKeys: { id: hash('id'), person: hash('person') },
};
const withoutId = { sameEventKey: hash('bytes', 32) };

async function sqliteFilledBefore(): Promise<ReceiptStore> {
  const database = connectTo(path.join(temporaryFolder(), 'trackport.db'));
  const migrations = readMigrations('migrations/sqlite');
  await migrateSqlite(
    { database, log },
    migrations.filter(({ number }) => number < 20),
  );
  database.handle.exec(`
    INSERT INTO receipt (number, id, partnerId, path, eventType, correlationId, status, receivedAt)
    VALUES (1, 'first', 'crm-one', 'deletions', 'lead.deletion', 'c', 'ACCEPTED', 1);
    INSERT INTO event (id, receipt, position, outcome, dueAt)
    VALUES (11, 1, 0, 'PENDING', 1), (12, 1, 1, 'PENDING', 1);
    INSERT INTO same_event (key, event, firstSeenAt, idKey, personKey) VALUES
      (x'${hex(withId.sameEventKey)}', 11, 1, x'${hex(hash('id'))}', x'${hex(hash('person'))}'),
      (x'${hex(withoutId.sameEventKey)}', 12, 1, NULL, NULL)`);
  await migrateSqlite({ database, log });
  expect(database.handle.pragma('foreign_key_check')).toEqual([]);
  return createReceiptStore(database, { payloadKey, repository: REPOSITORY });
}

async function postgresFilledBefore(): Promise<ReceiptStore> {
  const database = await connectToPostgres(await emptyPostgres());
  const migrations = readMigrations('migrations/postgres');
  await migratePostgres(
    { database, log },
    migrations.filter(({ number }) => number < 15),
  );
  await database.exec(`
    INSERT INTO receipt (id, partner_id, path, event_type, correlation_id, status, received_at)
    VALUES ('first', 'crm-one', 'deletions', 'lead.deletion', 'c', 'ACCEPTED', 1);
    INSERT INTO event (receipt, position, outcome, due_at)
    SELECT number, position, 'PENDING', 1 FROM receipt, (VALUES (0), (1)) AS of (position);
    INSERT INTO same_event (key, event, first_seen_at, id_key, person_key)
    SELECT '\\x${hex(withId.sameEventKey)}'::bytea, id, 1, '\\x${hex(hash('id'))}'::bytea,
      '\\x${hex(hash('person'))}'::bytea
    FROM event WHERE position = 0
    UNION ALL
    SELECT '\\x${hex(withoutId.sameEventKey)}', id, 1, NULL, NULL FROM event WHERE position = 1`);
  await migratePostgres({ database, log });
  return createReceiptStore(database, { payloadKey, repository: REPOSITORY });
}

const filledBefore = { SQLite: sqliteFilledBefore, PostgreSQL: postgresFilledBefore };

test.each(Object.entries(filledBefore))(
  'on %s events that came before it are known, and so is an id that comes with somebody else',
  async (_engine, fill) => {
    const store = await fill();
    const send = (event: Pick<NewEvent, 'sameEventKey'> & Partial<NewEvent>): Promise<string> =>
      acceptEvent(store, { at: 2, ...event });
    expect([await send(withId), await send(withoutId)]).toEqual(['first', 'first']);
    const other = await send({
      sameEventKey: hash('other', 32),
      idKeys: { id: hash('id'), person: hash('somebody else') },
    });
    expect((await store.read(other))?.events[0]?.note).toBe('event-id-reused');
    expect((await store.purge(2)).keys).toBe(2);
  },
);
