import { expect, test } from 'vitest';
import { readServerInfo, type ServerInfo } from '#adapters/postgres/server.ts';
import { checkServer } from '#doctor/examine.ts';
import { connectToPostgres, emptyPostgres } from '../support/postgres/database.ts';

const now = 1_790_000_000_000;
const good: ServerInfo = {
  version: '18.4',
  mayCreate: true,
  connectionsMax: 97,
  isDurable: true,
  now,
};

const check = (facts: Partial<ServerInfo> = {}) =>
  checkServer({ readServer: async () => ({ ...good, ...facts }) }, { now: () => now });

test('a server that suits tells for how many instances', async () => {
  expect(await check()).toEqual([
    {
      subject: 'store server',
      state: 'ok',
      detail: 'PostgreSQL 18.4. 97 connections: enough for 8 instances.',
    },
  ]);
});

test.each<[string, Partial<ServerInfo>, string, RegExp]>([
  ['does not wait for its disk', { isDurable: false }, 'failed', /fsync is off/],
  ['has a user that may not create tables', { mayCreate: false }, 'warning', /migrations .* fail/],
  ['gives too few connections', { connectionsMax: 10 }, 'warning', /gives 10 .* up to 11/],
  ['has a clock that is ahead', { now: now + 90_000 }, 'warning', /2 min away/],
  ['has a clock that is behind', { now: now - 6000 }, 'warning', /6 s away/],
])('a server that %s is told of, with what to do', async (_what, facts, state, detail) => {
  const [finding, ...others] = await check(facts);
  expect(finding).toMatchObject({ state, detail: expect.stringMatching(detail) as string });
  expect(finding?.fix).toBeDefined();
  expect(others).toEqual([]);
});

test('a store without a server has no such finding', async () => {
  expect(await checkServer({}, { now: () => now })).toEqual([]);
});

test('the facts are those of the server, its role and its database', async () => {
  const own = await emptyPostgres();
  const database = await connectToPostgres(own);
  const facts = await readServerInfo(database);
  expect(facts).toMatchObject({
    mayCreate: true,
    version: expect.stringMatching(/^\d+/) as string,
  });
  expect(Math.abs(facts.now - Date.now())).toBeLessThan(3_600_000);
  const name = new URL(own.url).pathname.slice(1);
  await database.exec(`ALTER DATABASE ${name} CONNECTION LIMIT 7`);
  expect((await readServerInfo(database)).connectionsMax).toBe(7);
});
