import { expect, onTestFinished, test } from 'vitest';
import {
  BATCHES_KEPT,
  type ChangeBatch,
  createChangeLog,
  type InstanceChange,
  parseChanges,
  toInstanceChange,
} from '#leads/instance-changes.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import { migrate } from '#adapters/postgres/server.ts';
import { silentLog } from '#shared/log.ts';
import { connectToPostgres, temporaryPostgres } from '../../support/postgres/database.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { EVERYTHING, gone, issueChange } from './support.ts';

/** Those of two instances on one empty store. */
async function twoLogs() {
  const database = await temporaryPostgres();
  return {
    database,
    mine: createChangeLog(database, { instanceId: 'mine' }),
    theirs: createChangeLog(database, { instanceId: 'theirs' }),
  };
}

/** Batches without a gap, of these changes each. */
const batches = (...all: InstanceChange[][]): ChangeBatch[] =>
  all.map((changes) => ({ isBehindGap: false, changes }));

test('batches of all instances are in one order without gaps, and own ones are empty', async () => {
  const { mine, theirs } = await twoLogs();
  const [readMine, readTheirs] = [await mine.openReader(), await theirs.openReader()];
  await mine.append([issueChange(1)]);
  await theirs.append([gone(2), EVERYTHING]);
  expect(await readTheirs()).toEqual(batches([issueChange(1)], []));
  await mine.append([issueChange(4)]);
  expect(await readMine()).toEqual(batches([], [gone(2), EVERYTHING], []));
  expect(await readTheirs()).toEqual(batches([issueChange(4)]));
  expect(await readTheirs()).toEqual([]);
  const begunNow = await theirs.openReader();
  expect(await begunNow()).toEqual([]);
});

test('the newest batches are kept, and a reader that is older finds a gap', async () => {
  const { mine, theirs } = await twoLogs();
  const readNew = await theirs.openReader();
  for (let at = 0; at < BATCHES_KEPT + 3; at += 1) await mine.append([issueChange(at)]);
  const [first, ...others] = await readNew();
  expect(first).toEqual({ isBehindGap: true, changes: [issueChange(3)] });
  expect(others).toHaveLength(BATCHES_KEPT - 1);
  expect(others.some(({ isBehindGap }) => isBehindGap)).toBe(false);
});

test('whoever watches is called after each batch, its own and those of others, until it stops', async () => {
  const { mine, theirs } = await twoLogs();
  const readNew = await mine.openReader();
  let calls = 0;
  const watch = mine.watch(() => (calls += 1));
  onTestFinished(() => watch.close());
  await expect.poll(() => calls).toBe(1);
  for (const [at, log] of [theirs, mine, theirs].entries()) {
    await log.append([issueChange(at)]);
    await expect.poll(() => calls).toBe(at + 2);
    expect(await readNew()).toHaveLength(1);
  }
  await watch.close();
  await theirs.append([EVERYTHING]);
  expect(await readNew()).toHaveLength(1);
  expect(calls).toBe(4);
});

test('batches appended at the same time are all there, without gaps', async () => {
  const { mine, theirs } = await twoLogs();
  const readers = [await mine.openReader(), await theirs.openReader()];
  const changes = Array.from({ length: 20 }, (_, at) => issueChange(at));
  await Promise.all(changes.map((change, at) => (at % 2 === 0 ? mine : theirs).append([change])));
  const read = (await Promise.all(readers.map((readNew) => readNew()))).flat();
  expect(read).toHaveLength(40);
  expect(read.some(({ isBehindGap }) => isBehindGap)).toBe(false);
  expect(new Set(read.flatMap((batch) => batch.changes))).toEqual(new Set(changes));
});

test.each([
  ['is at an earlier position', "SELECT 'nothing came since'", 2],
  [
    'has another batch at the same position',
    `INSERT INTO change_batch (position, instance_id, changes) VALUES (3, 'others', '[]')`,
    3,
  ],
])('a server that lost what was read before, and %s, is found out', async (_where, since, last) => {
  const { database, mine, theirs } = await twoLogs();
  const readNew = await mine.openReader();
  for (let at = 1; at <= 3; at += 1) await theirs.append([issueChange(at)]);
  expect(await readNew()).toHaveLength(3);
  expect(await readNew()).toEqual([]);
  await database.run('DELETE FROM change_batch WHERE position = 3');
  await database.exec(since);
  const changes = last === 2 ? [issueChange(2)] : [];
  expect(await readNew()).toEqual([{ isBehindGap: true, changes }]);
  expect(await readNew()).toEqual([]);
});

test('a reader that has just begun finds out, too', async () => {
  const { database, mine, theirs } = await twoLogs();
  await theirs.append([issueChange(1)]);
  const readNew = await mine.openReader();
  await database.run("UPDATE change_batch SET instance_id = 'others'");
  expect(await readNew()).toEqual([{ isBehindGap: true, changes: [issueChange(1)] }]);
});

test('a reader that found an empty log in between finds out, too', async () => {
  const { database, mine, theirs } = await twoLogs();
  await theirs.append([issueChange(1)]);
  const readNew = await mine.openReader();
  await database.run('DELETE FROM change_batch');
  expect(await readNew()).toEqual([]);
  await theirs.append([issueChange(2)]);
  expect(await readNew()).toEqual([{ isBehindGap: true, changes: [issueChange(2)] }]);
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
  await theirs.append([EVERYTHING]);
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
  await changes.append([EVERYTHING]);
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

test.each(['', '{}', '[{"kind":"label"}]', '[{"kind":"issue","issue":{"number":"x"}}]'])(
  'a text of another version, %j, may mean anything',
  (text) => {
    expect(parseChanges(text)).toEqual([EVERYTHING]);
  },
);
