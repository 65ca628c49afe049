/** The migration that turns members round, on a catalog that a version before it had filled. */
import { expect, test } from 'vitest';
import { createListersReader } from '#adapters/postgres/artifact/listers.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { silentLog as log } from '#shared/log.ts';
import { readMigrations } from '#shared/store/migrations.ts';
import { connectToPostgres, emptyPostgres } from '../../../support/postgres/database.ts';

const LISTING = 14;

test('who lists an artifact is known of versions that were there before', async () => {
  const database = await connectToPostgres(await emptyPostgres());
  const all = readMigrations('migrations/postgres');
  await migrate(
    { database, log },
    all.filter(({ number }) => number < LISTING),
  );
  await database.exec(`
    INSERT INTO catalog_artifact (serial, workspace_id, id_folded, id, face_serial, versions) VALUES
      (1, 'default', 'pay', 'Pay', 1, 1), (2, 'default', 'list', 'list', 2, 2),
      (3, 'default', 'shop', 'shop', 4, 1), (4, 'default', 'late', 'late', 5, 1);
    INSERT INTO catalog_version (serial, artifact_serial, workspace_id, version, order_key, is_face,
      revision, lifecycle, type, source, owner, title, group_path, created_at, updated_at, members, terms)
    VALUES
      (1, 1, 'default', '1', 'k', true, 1, 'PUBLISHED', 'API', 'GIT', 'o', 't', 'shop/core', 1, 1, NULL, ''),
      (2, 2, 'default', '2', 'k', true, 1, 'DEPRECATED', 'API', 'GIT', 'o', 't', NULL, 1, 1, '["PAY","x"]', ''),
      (3, 2, 'default', '1', 'k', false, 1, 'PUBLISHED', 'API', 'GIT', 'o', 't', NULL, 1, 1, '["pay"]', ''),
      (4, 3, 'default', '1', 'k', true, 1, 'PUBLISHED', 'GROUP', 'GIT', 'o', 't', 'shop', 1, 1, NULL, ''),
      (5, 4, 'default', '1', 'k', true, 1, 'RETIRED', 'API', 'GIT', 'o', 't', NULL, 1, 1, '["pay"]', '');`);
  await migrate({ database, log }, all);
  const listed = await createListersReader(database)('default', { id: 'pay', limit: 10 });
  expect(listed?.map(({ lister: { id, version } }) => `${id}@${version}`)).toEqual([
    'shop@1',
    'list@2',
  ]);
});
