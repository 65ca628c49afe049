/** Responses that a consumer does not read fill no memory, and hold nobody up. */
import { EventEmitter, once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import nock from 'nock';
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createBacklog } from '#http/responses/backlog.ts';
import type { LeadFeed } from '#leads/lead-feed/lead-feed.ts';
import type { Lead, LeadList } from '#leads/model/lead-out.ts';
import type { HttpApp } from '#http/context.ts';
import { DAY } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { petstore } from '../../support/catalog.ts';
import { origin } from '../../access/support.ts';
import { openWorld } from '../../support/world.ts';
import { buildTestApp } from '../../support/http/app.ts';
import { fakeLeads, GOOD_KEY, someLead } from '../../support/http/leads.ts';

// It would read what comes in the test's place.
beforeAll(() => nock.restore());

const MIB = 1024 * 1024;
const BACKLOG_MAX = 16 * MIB;
const REQUESTS = 230;
const STATUS = 'HTTP/1.1 200 OK';

const longLead = (at: number): Lead => ({
  ...someLead,
  id: String(at),
  contact: { message: 'word '.repeat(12_000) },
});
const lead = longLead(1);
const list: LeadList = {
  items: Array.from({ length: 17 }, (_, at) => longLead(at + 1)),
  pagination: { hasMore: false },
};
const changes = list.items.map((one) => ({
  type: 'lead.changed' as const,
  id: one.id,
  at: one.updatedAt,
  lead: one,
}));
const claimed = new Set<string>();
afterEach(() => claimed.clear());
const leadFeed: Partial<LeadFeed> = {
  read: async () => ({ items: changes, pagination: { hasMore: true, nextCursor: 'c' } }),
  follow: async function* () {
    yield { cursor: 'c' };
    for (const item of changes) yield { cursor: 'c', item };
  },
  withoutClaimed: async (items) => items.filter(({ id }) => !claimed.has(id)),
  listeners: () => 0,
  notePageTold: () => undefined,
};

/** A service with long answers, and how many bytes of them wait to be sent. */
async function openService() {
  const leads = fakeLeads({ lead, limitPerMinute: 100_000 });
  // Another object each time: no two callers share a rendering.
  const reader = {
    list: async () => ({
      value: { ...list, items: list.items.filter(({ id }) => !claimed.has(id)) },
      cache: { outcome: 'hit', ageMs: 0, ttlMs: 1 },
    }),
    read: async (id: string) => {
      if (claimed.has(id)) throw new TrackportError('lead-not-found');
      return { value: { ...lead }, cache: { outcome: 'hit', ageMs: 0, ttlMs: 1 } };
    },
  };
  return listen(buildTestApp({ ...leads, leads: { reader, leadFeed } as never }));
}

async function listen(app: HttpApp) {
  onTestFinished(() => app.close());
  const responses: { writableLength: number }[] = [];
  app.server.prependListener('request', (_request, response) => responses.push(response));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const waiting = () => responses.reduce((sum, { writableLength }) => sum + writableLength, 0);
  return { port: (app.server.address() as AddressInfo).port, responses, waiting };
}

async function ask(port: number, path: string, times: number, key = GOOD_KEY): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nAccept: application/yaml\r\n\r\n`.repeat(
      times,
    ),
  );
  return socket;
}

const paths = [
  ['pages of changes', '/api/v1/leads/changes'],
  ['lists', '/api/v1/leads'],
  ['leads', '/api/v1/leads/1'],
] as const;

test.each(paths)(
  '%s that nobody reads hold 16 MiB at most, on one connection and on many, and all come when they are read',
  async (_what, path) => {
    const { port, responses, waiting } = await openService();
    const sockets = [await ask(port, path, REQUESTS)];
    for (let more = 0; more < 20; more += 1) sockets.push(await ask(port, path, 1));
    let most = 0;
    await eventually(() => expect(responses).toHaveLength(REQUESTS + 20));
    for (let turns = 0; turns < 500; turns += 1) {
      await nextTurn();
      most = Math.max(most, waiting());
    }
    expect(most).toBeGreaterThan(MIB);
    expect(most).toBeLessThan(BACKLOG_MAX + MIB);
    let statuses = 0;
    for (const socket of sockets) {
      let end = '';
      socket.setEncoding('latin1').on('data', (text: string) => {
        statuses += `${end}${text}`.split(STATUS).length - 1;
        end = text.slice(1 - STATUS.length);
      });
      socket.resume();
    }
    await eventually(() => expect([statuses, waiting()]).toEqual([REQUESTS + 20, 0]));
  },
);

test('specs as YAML that nobody reads hold 16 MiB at most, and all come when they are read', async () => {
  const renderSpecYaml = async () => 'x'.repeat(9 * MIB);
  const { app, access, callCatalog } = openWorld({ catalog: { renderSpecYaml } });
  await callCatalog('POST', '', { body: { ...petstore, version: '1.0.0', spec: {} } });
  const grants = [{ action: 'catalog:read' as const, workspace: 'default' }];
  const input = { name: 'docs', grants, expiresInMs: DAY };
  const { issued } = await access.consumers.create(input, origin);
  const { port, responses, waiting } = await listen(app);
  const path = '/api/v1/catalog/petstore/spec?version=1.0.0';
  const asking = Array.from({ length: 8 }, () => ask(port, path, 1, issued.key.reveal()));
  const sockets = await Promise.all(asking);
  await eventually(() => expect(responses).toHaveLength(8));
  await eventually(() => expect(waiting()).toBeGreaterThan(MIB));
  for (let turns = 0; turns < 100; turns += 1) {
    await nextTurn();
    expect(waiting()).toBeLessThan(BACKLOG_MAX);
  }
  const statuses = sockets.map(async (socket) => {
    const [head] = (await once(socket.setEncoding('latin1').resume(), 'data')) as [string];
    return head.slice(0, STATUS.length);
  });
  expect(await Promise.all(statuses)).toEqual(Array(8).fill(STATUS));
});

test('others are served while one consumer reads nothing, and what it has hung up on counts no more', async () => {
  const { port, waiting } = await openService();
  const stuck = await ask(port, '/api/v1/leads', REQUESTS);
  await eventually(() => expect(waiting()).toBeGreaterThan(10 * MIB));
  const healthy = await fetch(`http://127.0.0.1:${port}/problems/overloaded`);
  expect(healthy.status).toBe(200);
  stuck.destroy();
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/leads`, {
      headers: { 'x-api-key': GOOD_KEY },
    });
    expect(answer.status).toBe(200);
  });
});

test.each([
  ['a page of changes', '/api/v1/leads/changes'],
  ['a list', '/api/v1/leads'],
  ['a lead', '/api/v1/leads/1'],
])('%s that has waited for room shows nothing that was claimed meanwhile', async (_what, path) => {
  const { port, responses, waiting } = await openService();
  const stuck = await ask(port, '/api/v1/leads', REQUESTS);
  await eventually(() => expect(waiting()).toBeGreaterThan(15 * MIB));
  const late = await ask(port, path, 1);
  await eventually(() => expect(responses).toHaveLength(REQUESTS + 1));
  for (let turns = 0; turns < 20; turns += 1) await nextTurn();
  claimed.add('1');
  stuck.destroy();
  let received = '';
  late.setEncoding('latin1').on('data', (piece: string) => (received += piece));
  late.resume();
  await eventually(() => expect(received).toMatch(/^HTTP\/1\.1 (?:200|404)[^]*\}/));
  expect(received).not.toContain('"id":"1"');
});

test('a stream shows nothing that was claimed since it was read', async () => {
  const { port } = await openService();
  claimed.add('2');
  const headers = { 'x-api-key': GOOD_KEY, accept: 'text/event-stream' };
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/leads/changes`, { headers });
  const events = await response.text();
  expect(events).toContain('"id":"1"');
  expect(events).toContain('"id":"3"');
  expect(events).not.toContain('"id":"2"');
});

/** A call of one consumer. */
function newCall() {
  const responseOut = new EventEmitter();
  const request = { responseOut, keyHolder: { principal: { consumerId: 'c' } } } as never;
  return { request, responseOut };
}

test('a short response that room was reserved for keeps no other waiting once it is made', async () => {
  const backlog = createBacklog();
  const calls = Array.from({ length: 4 }, () => newCall().request);
  const begun: number[] = [];
  const begin = async (at: number): Promise<void> => {
    await backlog.reserve(calls[at] ?? ({} as never), 5 * MIB);
    begun.push(at);
  };
  const all = [0, 1, 2, 3].map(begin);
  await eventually(() => expect(begun).toEqual([0, 1, 2]));
  await backlog.settle(calls[1] ?? ({} as never), 100);
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('a response that is longer than what was reserved waits for room, in front of all others', async () => {
  const backlog = createBacklog();
  const [unread, long, later] = [newCall(), newCall(), newCall()];
  const done: string[] = [];
  void backlog.send(unread.request, 10 * MIB, () => done.push('unread'));
  await backlog.reserve(long.request, 5 * MIB);
  const reserved = backlog.reserve(later.request, 5 * MIB).then(() => done.push('later'));
  const settled = backlog.settle(long.request, 12 * MIB).then(() => done.push('long'));
  for (let turns = 0; turns < 20; turns += 1) await nextTurn();
  expect(done).toEqual(['unread']);
  unread.responseOut.emit('close');
  await settled;
  for (let turns = 0; turns < 20; turns += 1) await nextTurn();
  expect(done).toEqual(['unread', 'long']);
  long.responseOut.emit('close');
  await reserved;
});

test('an answer without a body that ends frees no room of another one', async () => {
  const backlog = createBacklog();
  const [empty, unread, later] = [newCall(), newCall(), newCall()];
  await backlog.reserve(empty.request, 5 * MIB);
  await backlog.settle(empty.request, 0);
  await backlog.send(unread.request, BACKLOG_MAX, () => undefined);
  empty.responseOut.emit('close');
  let hasBegun = false;
  const reserved = backlog.reserve(later.request, 5 * MIB).then(() => (hasBegun = true));
  for (let turns = 0; turns < 20; turns += 1) await nextTurn();
  expect(hasBegun).toBe(false);
  unread.responseOut.emit('close');
  await reserved;
});

test('a stream that has waited for room leaves nothing at its response', async () => {
  const backlog = createBacklog();
  const { request, responseOut } = newCall();
  let wasRead = await backlog.take(request, BACKLOG_MAX);
  for (let parts = 0; parts < 20; parts += 1) {
    const next = backlog.take(request, BACKLOG_MAX);
    wasRead();
    wasRead = await next;
  }
  expect(responseOut.listenerCount('close')).toBe(0);
});
