/** The migration that has a store keep the fingerprint of its key, on stores that a version before it had filled. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { migrate as migratePostgres } from '#adapters/postgres/migrate.ts';
import { readFingerprint } from '#adapters/store/secret-key.ts';
import { migrate as migrateSqlite } from '#adapters/sqlite/migrate.ts';
import { fingerprintOf } from '#config/secret-key.ts';
import { silentLog as log } from '#shared/log.ts';
import { readMigrations } from '#adapters/store/migrations.ts';
import { temporaryFolder } from '../support/folder.ts';
import { connectToPostgres, emptyPostgres } from '../support/postgres/database.ts';
import { connectTo } from '../support/stores.ts';

/** What 0.1.0 wrote for a `secretKey` of 32 bytes that are 7. */
const WRITTEN = '46a502ba2e9961e5ffab4258f8efbd3e';
const today = fingerprintOf(Buffer.alloc(32, 7));

test('the fingerprint is what the directory of an earlier version tells of the key', () => {
  expect(today.toString('hex')).toBe(WRITTEN);
});

test.each([true, false])('SQLite: the directory was filled: %s', async (isFilled) => {
  const database = connectTo(path.join(temporaryFolder(), 'trackport.db'));
  const before = readMigrations('migrations/sqlite').filter(({ number }) => number < 21);
  await migrateSqlite({ database, log }, before);
  if (isFilled)
    database.handle.exec(`
      INSERT INTO tracker_repository VALUES ('a/former', 1, 5), ('a/leads', 2, 9), ('a/old', 3, 1);
      INSERT INTO directory_state (repositoryId, keyCheck, rulesCheck, crawl, crawling,
        crawlStartedAt, crawlIssues, crawlReached, caughtUpTo)
      VALUES (1, x'01', x'', 1, 0, 0, 0, 0, 0), (2, x'${WRITTEN}', x'', 1, 0, 0, 0, 0, 0),
        (3, x'03', x'', 1, 0, 0, 0, 0, 0)`);
  await migrateSqlite({ database, log });
  expect(await readFingerprint(database)).toEqual(isFilled ? today : undefined);
});

test.each([true, false])('PostgreSQL: the directory was filled: %s', async (isFilled) => {
  const database = await connectToPostgres(await emptyPostgres());
  const before = readMigrations('migrations/postgres').filter(({ number }) => number < 16);
  await migratePostgres({ database, log }, before);
  if (isFilled)
    await database.exec(`
      INSERT INTO tracker_repository VALUES ('a/former', 1, 5), ('a/leads', 2, 9), ('a/old', 3, 1);
      INSERT INTO directory_state (repository_id, key_check, rules_check, crawl, crawling,
        crawl_started_at, crawl_issues, crawl_reached, caught_up_to)
      VALUES (1, '1', '', 1, false, 0, 0, 0, 0), (2, '\\x${WRITTEN}', '', 1, false, 0, 0, 0, 0),
        (3, '3', '', 1, false, 0, 0, 0, 0)`);
  await migratePostgres({ database, log });
  expect(await readFingerprint(database)).toEqual(isFilled ? today : undefined);
});
