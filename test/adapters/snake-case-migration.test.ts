/** The migrations that gave both engines the same columns, on stores that a version before them had filled. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { migrate as migratePostgres } from '#adapters/postgres/migrate.ts';
import { migrate as migrateSqlite } from '#adapters/sqlite/migrate.ts';
import { silentLog as log } from '#shared/log.ts';
import { readMigrations } from '#adapters/store/migrations.ts';
import { toSnakeCase } from '#adapters/store/session.ts';
import { temporaryFolder } from '../support/folder.ts';
import { connectToPostgres, emptyPostgres } from '../support/postgres/database.ts';
import { connectTo } from '../support/stores.ts';

const HASH = `x'${'0a'.repeat(32)}'`;

/** Every column has a value of its own somewhere; keys are not in the order of their names. */
const FILL = `
  INSERT INTO consumer VALUES ('c-1', 'one', 'active', 5, 1), ('c-2', 'two', 'revoked', NULL, 2);
  INSERT INTO consumer_grant VALUES
    ('c-1', 'leads:read', '["a"]', NULL), ('c-2', 'catalog:read', NULL, 'w');
  INSERT INTO api_key VALUES ('k-2', 'c-1', ${HASH}, 'last', 'ops', 1, 2, 3, 'k-1', 4),
    ('k-1', 'c-1', ${HASH}, 'LAST', 'ops', 5, NULL, NULL, NULL, NULL);
  INSERT INTO session VALUES (${HASH}, 'sub', 'sid', 'UTC', 1, 2, 3, 4, 5, x'01');
  INSERT INTO session_once VALUES (x'02', ${HASH}, 6, x'03');
  INSERT INTO logout_token VALUES (x'04', 7);
  INSERT INTO traffic VALUES ('crm-one', 'refused', 'limit', 20000, 8, 9);
  INSERT INTO audit VALUES (3, 1, 'token', 'sub', 'client', 'key.revoke', 'consumer/c-1', '{}', 'r');
  INSERT INTO idempotency_key VALUES (x'05', 'w', x'06', 10, 201, '{}', 'body', 6);
  INSERT INTO change_batch VALUES (11, 'instance', '[]');
  INSERT INTO catalog_artifact VALUES (3, 'w', 'pay', 'Pay', 8, 9, 2);
  INSERT INTO catalog_version (serial, artifactSerial, workspaceId, version, orderKey, isFace, revision,
    lifecycle, type, source, owner, title, projectId, groupPath, createdAt, updatedAt, publishedAt,
    deprecatedAt, sunsetAt, members, counts, findings, description)
  VALUES
    (8, 3, 'w', '1.0.0', 'k', 0, 4, 'DRAFT', 'API', 'GIT', 'o', 'Old', NULL, NULL, 1, 2, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL),
    (9, 3, 'w', '2.0.0', 'l', 1, 5, 'DEPRECATED', 'API', 'GIT', 'o', 'Größe', 'p', 'a/b', 3, 4, 5, 6, 7,
      '["x"]', '{"n":1}', '[]', 'Short');
  INSERT INTO catalog_spec VALUES (9, '{}');
  INSERT INTO catalog_version_text (rowid, terms) VALUES (8, 'pay old o'), (9, 'pay große o a b short');
  INSERT INTO catalog_artifact_text (rowid, terms) VALUES (3, 'pay große o a b short');
  INSERT INTO tracker_repository VALUES ('acme/leads', 4711, 1);
  INSERT INTO directory_state VALUES (4711, x'07', 2, 1, 3, 4, 5, NULL, 6);
  INSERT INTO directory_lead VALUES (4711, 12, 7, 1, '["a"]', 2, 1, 8);
  INSERT INTO directory_key VALUES (x'08', 4711, 12, 'email');
  INSERT INTO directory_approval VALUES (4711, 12, '["a","b"]');
  INSERT INTO directory_merge VALUES (9, x'09', x'0a');
  INSERT INTO receipt VALUES
    (3, 'r-3', 'crm-one', 'deletions', 'lead.deletion', 'x', 'c', 'ACCEPTED', 12, '00-01');
  INSERT INTO event (id, receipt, position, eventType, eventId, externalId, outcome, erasure, note,
    leadIds, attempts, lastError, completedAt, payload, dueAt, leaseToken, leaseUntil, progress, again,
    history, names, askedAt, acknowledgedAt)
  VALUES (5, 3, 0, 't', 'e', 'x', 'PENDING', NULL, 'n', '["12"]', 1, 'refused', NULL, x'0b', 13, 'lease',
      14, '{"stage":"act"}', 15, '[{"at":1}]', 'email', 16, NULL),
    (6, 3, 1, NULL, NULL, NULL, 'DONE', 'complete', NULL, NULL, 0, NULL, 17, NULL, NULL, NULL, NULL,
      NULL, 0, '[]', NULL, NULL, 18);
  INSERT INTO same_event VALUES (x'0c', x'0d', x'0e', 5, 19);
  INSERT INTO late_look VALUES (5, 4711, x'08', '["close"]', 20, 21, 22);
  INSERT INTO claim VALUES (23, 4711, 12, 'r-3', 5, 24, 25, NULL, 1), (26, 4711, 13, 'r-3', 6, 27, 28, 29, 0);
  UPDATE worker_lease SET holder = 'h', beat = 30, hasLock = 1, isAsked = 1`;

const TABLES = [
  'consumer',
  'consumer_grant',
  'api_key',
  'session',
  'session_once',
  'logout_token',
  'traffic',
  'audit',
  'idempotency_key',
  'change_batch',
  'catalog_artifact',
  'catalog_spec',
  'tracker_repository',
  'directory_state',
  'directory_lead',
  'directory_key',
  'directory_approval',
  'directory_merge',
  'receipt',
  'event',
  'event_lead',
  'same_event',
  'late_look',
  'claim',
  'claim_version',
  'worker_lease',
];

/** One column of these is gone, and one has come. */
const VERSION =
  'serial, version, revision, lifecycle, type, source, owner, title, members, counts, findings, description';

test('SQLite: every row is as it was, and keys stay in the order in which they were made', async () => {
  const { handle, ...database } = connectTo(path.join(temporaryFolder(), 'trackport.db'));
  const migrateTo = (last: number) =>
    migrateSqlite(
      { database: { handle, ...database }, log },
      readMigrations('migrations/sqlite').filter(({ number }) => number <= last),
    );
  const rowsOf = (table: string, columns = '*'): unknown[] =>
    handle.prepare(`SELECT ${columns} FROM ${table} ORDER BY 1`).raw().all();
  await migrateTo(27);
  handle.exec(FILL);
  const before = TABLES.map((table) => rowsOf(table, table === 'api_key' ? 'rowid, *' : '*'));
  const renamed =
    'artifactSerial workspaceId orderKey isFace projectId groupPath groupKey createdAt updatedAt publishedAt deprecatedAt sunsetAt'.split(
      ' ',
    );
  const versions = rowsOf('catalog_version', `${VERSION}, ${renamed.join(', ')}`);
  await migrateTo(31);
  expect(TABLES.map((table) => rowsOf(table))).toEqual(before);
  const columns = `${VERSION}, ${renamed.map(toSnakeCase).join(', ')}`;
  expect(rowsOf('catalog_version', columns)).toEqual(versions);
  expect(rowsOf('catalog_version', 'terms')).toEqual([['pay grosse o a b short'], ['pay old o']]);
  const found = (table: string, word: string): unknown[] =>
    handle.prepare(`SELECT rowid FROM ${table} WHERE ${table} MATCH '${word}'`).pluck().all();
  expect(found('catalog_version_text', 'pay')).toEqual([8, 9]);
  // From now on by triggers, in what was indexed before as well.
  handle.exec('UPDATE catalog_version SET is_face = (serial = 8)');
  expect(found('catalog_artifact_text', 'old')).toEqual([3]);
  expect(found('catalog_artifact_text', 'short')).toEqual([]);
  handle.exec("UPDATE catalog_version SET terms = 'other' WHERE serial = 8");
  expect(found('catalog_artifact_text', 'other')).toEqual([3]);
  expect(found('catalog_version_text', 'old')).toEqual([]);
  handle.exec('DELETE FROM catalog_version; DELETE FROM catalog_artifact');
  expect(found('catalog_version_text', 'pay OR other OR short')).toEqual([]);
  expect(found('catalog_artifact_text', 'other')).toEqual([]);
  expect(handle.pragma('foreign_key_check')).toEqual([]);
});

test('PostgreSQL: lists are those that they were', async () => {
  const database = await connectToPostgres(await emptyPostgres());
  const migrations = readMigrations('migrations/postgres');
  await migratePostgres(
    { database, log },
    migrations.filter(({ number }) => number <= 22),
  );
  await database.exec(`
    INSERT INTO consumer VALUES ('c-1', 'one', 'active', NULL, 1);
    INSERT INTO consumer_grant VALUES
      ('c-1', 'leads:read', ARRAY['Größe "L"', 'b']), ('c-1', 'catalog:read', NULL);
    INSERT INTO directory_lead VALUES (1, 2, 3, 4, true, ARRAY['Ä "x"', 'b'], 5);
    INSERT INTO directory_approval VALUES (1, 2, '{}');
    INSERT INTO receipt (id, partner_id, path, event_type, correlation_id, status, received_at)
    VALUES ('r', 'crm-one', 'deletions', 't', 'c', 'PROCESSED', 1);
    INSERT INTO event (receipt, position, outcome, completed_at, lead_ids)
    SELECT number, place, 'DONE', 1, CASE place WHEN 0 THEN ARRAY['12', '7'] END
    FROM receipt, generate_series(0, 1) AS of (place);
    INSERT INTO late_look SELECT id, 1, '', ARRAY['close'], 1, 1, 1 FROM event WHERE position = 0`);
  await migratePostgres({ database, log }, migrations);
  const rows = await database.all<{ labels?: string }>(
    'SELECT labels FROM consumer_grant ORDER BY action',
  );
  expect(rows.map(({ labels }) => labels && (JSON.parse(labels) as unknown))).toEqual([
    undefined,
    ['Größe "L"', 'b'],
  ]);
  const listsOf = async (table: string, column: string): Promise<unknown[]> => {
    const sql = `SELECT ${column} AS list FROM ${table} ORDER BY 1 NULLS LAST`;
    const lists = await database.all<{ list?: string }>(sql);
    return lists.map(({ list }) => list && (JSON.parse(list) as unknown));
  };
  expect(await listsOf('directory_lead', 'labels')).toEqual([['Ä "x"', 'b']]);
  expect(await listsOf('directory_approval', 'labels')).toEqual([[]]);
  expect(await listsOf('event', 'lead_ids')).toEqual([['12', '7'], undefined]);
  expect(await listsOf('recheck', 'actions')).toEqual([['close']]);
});
