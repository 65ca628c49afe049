/** The migrations that gave both engines the same columns, on stores that a version before them had filled. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { migrate as migratePostgres } from '#adapters/postgres/migrate.ts';
import { migrate as migrateSqlite } from '#adapters/sqlite/migrate.ts';
import { silentLog as log } from '#shared/log.ts';
import { readMigrations } from '#shared/store/migrations.ts';
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
  INSERT INTO catalog_artifact_text (rowid, terms) VALUES (3, 'pay große o a b short')`;

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
];

/** One column of these is gone, and one has come. */
const VERSION =
  'serial, version, revision, lifecycle, type, source, owner, title, members, counts, findings, description';

test('SQLite: every row is as it was, and keys stay in the order in which they were made', () => {
  const { handle, ...database } = connectTo(path.join(temporaryFolder(), 'trackport.db'));
  const migrateTo = (last: number): unknown =>
    migrateSqlite(
      { database: { handle, ...database }, log },
      readMigrations('migrations/sqlite').filter(({ number }) => number <= last),
    );
  const rowsOf = (table: string, columns = '*'): unknown[] =>
    handle.prepare(`SELECT ${columns} FROM ${table} ORDER BY 1`).raw().all();
  migrateTo(27);
  handle.exec(FILL);
  const before = TABLES.map((table) => rowsOf(table, table === 'api_key' ? 'rowid, *' : '*'));
  const renamed =
    'artifactSerial workspaceId orderKey isFace projectId groupPath groupKey createdAt updatedAt publishedAt deprecatedAt sunsetAt'.split(
      ' ',
    );
  const versions = rowsOf('catalog_version', `${VERSION}, ${renamed.join(', ')}`);
  migrateTo(30);
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

test('PostgreSQL: the labels of grants are those that they were', async () => {
  const database = await connectToPostgres(await emptyPostgres());
  const migrations = readMigrations('migrations/postgres');
  await migratePostgres(
    { database, log },
    migrations.filter(({ number }) => number <= 22),
  );
  await database.exec(`
    INSERT INTO consumer VALUES ('c-1', 'one', 'active', NULL, 1);
    INSERT INTO consumer_grant VALUES
      ('c-1', 'leads:read', ARRAY['Größe "L"', 'b']), ('c-1', 'catalog:read', NULL)`);
  await migratePostgres({ database, log }, migrations);
  const rows = await database.all<{ labels: string | null }>(
    'SELECT labels FROM consumer_grant ORDER BY action',
  );
  expect(rows.map(({ labels }) => labels && (JSON.parse(labels) as unknown))).toEqual([
    null,
    ['Größe "L"', 'b'],
  ]);
});
