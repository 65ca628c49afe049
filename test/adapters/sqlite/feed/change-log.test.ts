import type { Statement } from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { createChangeLog } from '#adapters/sqlite/feed/change-log.ts';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { issueChange } from '../../../leads/feed/support.ts';
import { describeChangeLog } from '../../../contract/change-log.ts';
import { connectTo, temporaryDatabase, threadedDatabase } from '../../../support/stores.ts';

/** Two processes on one file. */
function twoLogs(database: Database = temporaryDatabase()) {
  const other = connectTo(database.handle.name);
  return {
    mine: createChangeLog(database, { instanceId: 'mine' }),
    theirs: createChangeLog(other, { instanceId: 'theirs' }),
  };
}

describeChangeLog('SQLite', async () => twoLogs());

test('the writing thread writes what another process reads', async () => {
  const { mine, theirs } = twoLogs(await threadedDatabase());
  await mine.append([issueChange(1)]);
  expect(await theirs.readAfter(0)).toEqual([{ position: 1, changes: [issueChange(1)] }]);
  await theirs.append([issueChange(2)]);
  expect(await mine.readAfter(1)).toEqual([{ position: 2, changes: [issueChange(2)] }]);
});

test('nothing is read while nothing was written to the store', async () => {
  const database = temporaryDatabase();
  const prepare = vi.spyOn(database.handle, 'prepare');
  const { mine, theirs } = twoLogs(database);
  const reads = prepare.mock.results.map(({ value }) => vi.spyOn(value as Statement, 'all'));
  const readsSoFar = (): number => reads.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  await theirs.append([issueChange(1)]);
  expect(await mine.readAfter(0)).toHaveLength(1);
  expect(await mine.readAfter(1)).toEqual([]);
  expect(await mine.readAfter(1)).toEqual([]);
  expect(readsSoFar()).toBe(1);
  await theirs.append([issueChange(2)]);
  expect(await mine.readAfter(1)).toHaveLength(1);
  expect(readsSoFar()).toBe(2);
});
