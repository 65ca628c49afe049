import { expect, onTestFinished, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import {
  createChangeLog,
  parseChanges,
  renderChanges,
  toInstanceChange,
} from '#leads/instance-changes/change-log.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { silentLog } from '#shared/log.ts';
import { describeChangeLog } from '../../contract/change-log.ts';
import { connectToPostgres, temporaryPostgres } from '../../support/postgres/database.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { connectTo, threadedDatabase } from '../../support/stores.ts';
import { EVERYTHING, gone, issueChange } from './support.ts';

/** Two processes on one file. */
function twoOnFile(database: SqliteDatabase) {
  return {
    mine: createChangeLog(database, { instanceId: 'mine' }),
    theirs: createChangeLog(connectTo(database.handle.name), { instanceId: 'theirs' }),
  };
}

describeChangeLog('SQLite, written by a thread', async () => twoOnFile(await threadedDatabase()));

async function twoLogs() {
  const database = await temporaryPostgres();
  return {
    database,
    mine: createChangeLog(database, { instanceId: 'mine' }),
    theirs: createChangeLog(database, { instanceId: 'theirs' }),
  };
}

describeChangeLog('PostgreSQL', twoLogs);

test.each([
  ['is at an earlier position', "SELECT 'nothing came since'"],
  [
    'has another batch at the same position',
    `INSERT INTO change_batch (position, instance_id, changes) VALUES (3, 'others', '[]')`,
  ],
])('a server that lost what was read before, and %s, is found out', async (_where, since) => {
  const { database, mine, theirs } = await twoLogs();
  for (let at = 1; at <= 3; at += 1) await theirs.append(String(at));
  const followed = (await mine.readAfter(0)).at(-1)?.position;
  expect(followed).toBe(3);
  expect(await mine.readAfter(3)).toEqual([]);
  await database.run('DELETE FROM change_batch WHERE position = 3');
  await database.exec(since);
  const [first] = await mine.readAfter(3);
  expect(first).toBeDefined();
  expect(first?.position).not.toBe(4);
});

test('a reader that begins at the last position finds out, too', async () => {
  const { database, mine, theirs } = await twoLogs();
  await theirs.append('1');
  expect(await mine.lastPosition()).toBe(1);
  await database.run("UPDATE change_batch SET instance_id = 'others'");
  expect((await mine.readAfter(1)).map(({ position }) => position)).toEqual([1]);
});

test('whoever watches is called again after its connection broke, and told of what comes then', async () => {
  const { database, mine, theirs } = await twoLogs();
  let calls = 0;
  const watch = mine.watch(() => (calls += 1));
  onTestFinished(() => watch.close());
  await expect.poll(() => calls).toBe(1);
  await database.get(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'`);
  await expect.poll(() => calls).toBe(2);
  await theirs.append('1');
  await expect.poll(() => calls).toBe(3);
});

test('the same after the server was away, and a stop does not wait for it', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const database = await connectToPostgres(server);
  await migrate({ database, log: silentLog });
  const changes = createChangeLog(database, { instanceId: 'mine' });
  let calls = 0;
  const watch = changes.watch(() => (calls += 1));
  onTestFinished(() => watch.close());
  await expect.poll(() => calls).toBe(1);
  await server.halt();
  await server.start();
  await expect.poll(() => calls).toBe(2);
  await changes.append('1');
  await expect.poll(() => calls).toBe(3);
  await server.halt();
  await watch.close();
  expect(calls).toBe(3);
}, 60_000);

const issue: Issue = {
  number: 7,
  url: 'https://tracker.example/7',
  title: 'Demo for Ada',
  body: 'ada@example.com',
  state: 'closed',
  labels: ['approved', 'priority:high'],
  assignees: ['grace'],
  author: 'ada',
  createdAt: 1,
  updatedAt: 2,
  isPullRequest: false,
};

test('nothing of an event is published but what decides where its issue is listed', () => {
  const change = toInstanceChange({ kind: 'issue', issue, isGone: true, isMoved: true });
  const { number, state, labels, createdAt, updatedAt, isPullRequest } = issue;
  expect(change).toStrictEqual({
    kind: 'issue',
    issue: { number, state, labels, createdAt, updatedAt, isPullRequest },
    isGone: true,
  });
});

test('an event that says nothing is not published', () => {
  expect(toInstanceChange({ kind: 'ignored' })).toBeUndefined();
  expect(toInstanceChange({ kind: 'everything' })).toEqual(EVERYTHING);
});

test('changes come out of their text as they went in', () => {
  const changes = [issueChange(1), gone(2), EVERYTHING];
  expect(parseChanges(renderChanges(changes))).toEqual(changes);
});

test.each(['', '{}', '[{"kind":"label"}]', '[{"kind":"issue","issue":{"number":"x"}}]'])(
  'a text of another version, %j, may mean anything',
  (text) => {
    expect(parseChanges(text)).toEqual([EVERYTHING]);
  },
);
