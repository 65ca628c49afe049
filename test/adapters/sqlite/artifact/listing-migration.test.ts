/** The migration that turns members round, on a catalog that a version before it had filled. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { createListersReader } from '#adapters/sqlite/artifact/listers.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { silentLog as log } from '#shared/log.ts';
import { readMigrations } from '#shared/store/migrations.ts';
import { temporaryFolder } from '../../../support/folder.ts';
import { connectTo } from '../../../support/stores.ts';

const LISTING = 18;

test('who lists an artifact is known of versions that were there before', () => {
  const database = connectTo(path.join(temporaryFolder(), 'trackport.db'));
  const all = readMigrations('migrations/sqlite');
  migrate(
    { database, log },
    all.filter(({ number }) => number < LISTING),
  );
  database.handle.exec(`
    INSERT INTO catalog_artifact (serial, workspaceId, idFolded, id, faceSerial, versions) VALUES
      (1, 'default', 'pay', 'Pay', 1, 1), (2, 'default', 'list', 'list', 2, 2),
      (3, 'default', 'shop', 'shop', 4, 1), (4, 'default', 'late', 'late', 5, 1);
    INSERT INTO catalog_version (serial, artifactSerial, workspaceId, version, orderKey, isFace,
      revision, lifecycle, type, source, owner, title, groupPath, createdAt, updatedAt, members)
    VALUES
      (1, 1, 'default', '1', 'k', 1, 1, 'PUBLISHED', 'API', 'GIT', 'o', 't', 'shop/core', 1, 1, NULL),
      (2, 2, 'default', '2', 'k', 1, 1, 'DEPRECATED', 'API', 'GIT', 'o', 't', NULL, 1, 1, '["PAY","x"]'),
      (3, 2, 'default', '1', 'k', 0, 1, 'PUBLISHED', 'API', 'GIT', 'o', 't', NULL, 1, 1, '["pay"]'),
      (4, 3, 'default', '1', 'k', 1, 1, 'PUBLISHED', 'GROUP', 'GIT', 'o', 't', 'shop', 1, 1, NULL),
      (5, 4, 'default', '1', 'k', 1, 1, 'RETIRED', 'API', 'GIT', 'o', 't', NULL, 1, 1, '["pay"]');`);
  migrate({ database, log }, all);
  const listed = createListersReader(database)('default', { id: 'pay', limit: 10 });
  expect(listed?.map(({ lister: { id, version } }) => `${id}@${version}`)).toEqual([
    'shop@1',
    'list@2',
  ]);
});
