import { expect, onTestFinished, test } from 'vitest';
import {
  BATCHES_KEPT,
  createChangeLog,
  parseChanges,
  renderChanges,
  toInstanceChange,
} from '#leads/instance-changes/change-log.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
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

test('batches of all instances are in one order without holes, and own ones are empty', async () => {
  const { mine, theirs } = await twoLogs();
  expect(await mine.lastPosition()).toBe(0);
  await mine.append('1');
  await theirs.append('2, 3');
  await mine.append('4');
  expect(await mine.readAfter(0)).toEqual([
    { position: 1 },
    { position: 2, text: '2, 3' },
    { position: 3 },
  ]);
  expect(await theirs.readAfter(1)).toEqual([{ position: 2 }, { position: 3, text: '4' }]);
  expect(await theirs.lastPosition()).toBe(3);
});

test('the newest batches are kept, and a reader that is older finds a hole', async () => {
  const { mine, theirs } = await twoLogs();
  for (let at = 0; at < BATCHES_KEPT + 3; at += 1) await mine.append(String(at));
  const batches = await theirs.readAfter(0);
  expect(batches).toHaveLength(BATCHES_KEPT);
  expect(batches.map(({ position }) => position)).toEqual(
    Array.from({ length: BATCHES_KEPT }, (_, at) => at + 4),
  );
});

test('whoever watches is called after each batch, its own and those of others, until it stops', async () => {
  const { mine, theirs } = await twoLogs();
  const seen: number[] = [];
  const looks: Promise<number>[] = [];
  const watch = mine.watch(() => {
    looks.push(mine.lastPosition().then((last) => seen.push(last)));
  });
  onTestFinished(() => watch.close());
  for (const [at, log] of [theirs, mine, theirs].entries()) {
    await log.append(String(at));
    await expect.poll(() => seen).toContain(at + 1); // a look of before may come behind
  }
  await watch.close();
  const before = looks.length;
  await theirs.append('9');
  await mine.readAfter(0);
  expect(looks).toHaveLength(before);
  await Promise.all(looks);
});

test('batches appended at the same time are all there, without holes', async () => {
  const { mine, theirs } = await twoLogs();
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? mine : theirs).append(String(at))),
  );
  const batches = [...(await mine.readAfter(0)), ...(await theirs.readAfter(0))];
  const texts = batches.flatMap(({ text }) => text ?? []);
  expect(new Set(texts)).toEqual(new Set(Array.from({ length: 20 }, (_, at) => String(at))));
  expect((await mine.readAfter(0)).map(({ position }) => position)).toEqual(
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
});

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
