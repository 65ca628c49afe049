/** The lead feed of the whole service, with the tracker's webhooks. */
import { setTimeout } from 'node:timers/promises';
import type { FeedPage } from '#leads/lead-feed/feed-item.ts';
import { expect, onTestFinished, test } from 'vitest';
import { MINUTE } from '#shared/clock.ts';
import { whileTimePasses } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { type FeedWorld, openFeedWorld } from '../client/support.ts';
import { compose, type Composed, sendDeletion } from '../support/world.ts';

const PATH = '/api/v1/leads/changes';

type World = Pick<FeedWorld, 'tracker' | 'service'> & { lead: (...labels: string[]) => number };

async function setUp(...options: Parameters<typeof openFeedWorld>): Promise<World> {
  const world = await openFeedWorld(...options);
  return { ...world, lead: (...labels) => Number(world.lead(...labels)) };
}

async function read({ service }: World, query: string): Promise<FeedPage> {
  const response = await whileTimePasses(service.clock, service.get(`${PATH}?${query}`));
  expect(response.status).toBe(200);
  return (await response.json()) as FeedPage;
}

const told = ({ items }: FeedPage) =>
  items.map(({ type, id }) => `${type === 'lead.changed' ? '+' : '-'}${id}`);

/** Reads until nothing is left, and answers what came and where to go on. */
async function catchUp(world: World, query: string): Promise<{ items: string[]; cursor: string }> {
  const items: string[] = [];
  let page = await read(world, query);
  items.push(...told(page));
  while (page.pagination.hasMore) {
    page = await read(world, `cursor=${page.pagination.nextCursor}`);
    items.push(...told(page));
  }
  return { items, cursor: page.pagination.nextCursor };
}

test('a copy that begins at the start and follows has what a full walk shows', async () => {
  const world = await setUp();
  const { tracker, service, lead } = world;
  const [one, two, three, four] = [lead(), lead('eu'), lead(), lead()] as const;
  const start = await catchUp(world, 'from=start&limit=3');
  expect(new Set(start.items)).toEqual(new Set([`+${one}`, `+${two}`, `+${three}`, `+${four}`]));

  await service.clock.advance(2000);
  tracker.editIssue(one, { title: 'Changed' });
  tracker.relabel(two, { remove: ['approved'] });
  tracker.deleteIssue(three);
  await sendDeletion(service.url, { eventId: 'e1', leadId: String(four) });
  await tracker.hooks.settled();
  let last = start;
  const seen: string[] = [];
  await eventually(async () => {
    await service.clock.advance(200);
    last = await catchUp(world, `cursor=${last.cursor}`);
    seen.push(...last.items);
    expect(new Set(seen)).toEqual(new Set([`+${one}`, `-${two}`, `-${three}`, `-${four}`]));
  });
});

test('a reader that waits gets the change as soon as it is there', async () => {
  const world = await setUp();
  const { cursor } = await catchUp(world, 'from=start');
  const waiting = world.service.get(`${PATH}?cursor=${cursor}&wait=30s`);
  await world.service.clock.advance(1000);
  const number = world.lead();
  const page = (await (await waiting).json()) as FeedPage;
  expect(page.items).toMatchObject([
    { type: 'lead.changed', id: String(number), lead: { title: 'Lead' } },
  ]);
  expect(page.pagination.hasMore).toBe(false);
});

test.each<[string, (tracker: World['tracker'], number: number) => void]>([
  ['its label is deleted', (tracker) => tracker.deleteLabel('approved')],
  [
    'a status closes it',
    (tracker, number) =>
      tracker.editIssue(number, { status: { name: 'Done', category: 'completed' } }),
  ],
  ['it gets a type', (tracker, number) => tracker.editIssue(number, { type: 'Bug' })],
  ['it gets a field', (tracker, number) => tracker.editIssue(number, { fields: { Size: 3 } })],
])('a lead is in the feed at once when %s', async (_what, change) => {
  const world = await setUp();
  const { tracker, service } = world;
  const number = world.lead();
  const { cursor } = await catchUp(world, 'from=start');
  await service.clock.advance(2000);
  change(tracker, number);
  await tracker.hooks.settled();
  const here = new AbortController();
  const waiting = service.get(`${PATH}?cursor=${cursor}&wait=30s`).finally(() => here.abort());
  // The tracker may be asked once more a second later, whenever the request has come.
  while (!here.signal.aborted) await Promise.all([service.clock.advance(100), setTimeout(20)]);
  const page = (await (await waiting).json()) as FeedPage;
  expect(page.items.map(({ id }) => id)).toEqual([String(number)]);
});

test('what no webhook told is in the feed within the interval, without partners, too', async () => {
  const settings = { partners: {}, leads: { freshFor: '1s', feedInterval: '2s' } };
  const world = await setUp(settings, { tells: false });
  const { cursor } = await catchUp(world, '');
  const number = world.lead();
  await eventually(async () => {
    await world.service.clock.advance(1000);
    expect((await catchUp(world, `cursor=${cursor}`)).items).toContain(`+${number}`);
  });
});

test('a grant by labels sees what carries them, and what did', async () => {
  const world = await setUp();
  const { service, tracker, lead } = world;
  const [eu, other] = [lead('eu'), lead()] as const;
  const { consumer, issued } = await service.service.access.consumers.create(
    { name: 'europe', grants: [{ action: 'leads:read', labels: ['EU'] }] },
    { actor: { kind: 'system', subject: 'test' } },
  );
  const headers = { 'x-api-key': issued.key.reveal() };
  const asEurope = async (query: string) => {
    const sent = fetch(`${service.url}${PATH}?${query}`, { headers });
    const answer = await whileTimePasses(service.clock, sent);
    return (await answer.json()) as FeedPage & { code?: string };
  };
  const start = await asEurope('from=start');
  expect(told(start)).toEqual([`+${eu}`]);
  await service.clock.advance(2000);
  tracker.relabel(eu, { remove: ['eu'] });
  tracker.relabel(other, { remove: ['approved'] });
  await tracker.hooks.settled();
  let { nextCursor } = start.pagination;
  await eventually(async () => {
    await service.clock.advance(100);
    const page = await asEurope(`cursor=${nextCursor}`);
    ({ nextCursor } = page.pagination);
    expect(told(page)).toEqual([`-${eu}`]);
  });
  for (const title of ['Its life', 'goes on', 'outside']) {
    await service.clock.advance(2000);
    tracker.editIssue(eu, { title });
    tracker.editIssue(other, { title });
    await tracker.hooks.settled();
    await service.clock.advance(2000);
    expect(told(await asEurope(`cursor=${nextCursor}`))).toEqual([]);
  }
  await service.service.access.consumers.replaceGrants(
    { id: consumer.id, grants: [{ action: 'leads:read' }] },
    { actor: { kind: 'system', subject: 'test' } },
  );
  await eventually(async () =>
    expect(await asEurope(`cursor=${nextCursor}`)).toMatchObject({
      code: 'cursor-expired',
      status: 410,
    }),
  );
});

/**
 * Changes that come to a reader, so many at least: the clock goes on until they are there, and then the longest interval
 * several times.
 */
async function follow(world: World, begin: string, least = 0): Promise<string[]> {
  const items: string[] = [];
  let cursor = begin;
  const look = async (): Promise<void> => {
    await world.service.clock.advance(2000);
    const page = await catchUp(world, `cursor=${cursor}`);
    items.push(...page.items);
    ({ cursor } = page);
  };
  await eventually(async () => {
    if (items.length < least) await look();
    expect(items.length).toBeGreaterThanOrEqual(least);
  });
  for (let looks = 0; looks < 60; looks += 1) await look();
  return items;
}

const OFTEN = { leads: { freshFor: '1s', feedInterval: '2s' } };

test.each([
  ['a webhook tells of', true],
  ['no webhook tells of', false],
])('one change is one item, however often the lead is met, where %s it', async (_what, tells) => {
  const world = await setUp(OFTEN, { tells });
  const { cursor } = await catchUp(world, '');
  const one = world.lead();
  expect(await follow(world, cursor, 1)).toEqual([`+${one}`]);
  const { cursor: next } = await catchUp(world, '');
  world.tracker.editIssue(one, { title: 'Changed' });
  expect(await follow(world, next, 1)).toEqual([`+${one}`]);
});

test('what the list has shown at the start is not told again', async () => {
  const world = await setUp(OFTEN);
  const [one, two] = [world.lead(), world.lead()];
  await world.tracker.hooks.settled();
  const start = await catchUp(world, 'from=start');
  expect(start.items.toSorted()).toEqual([`+${one}`, `+${two}`].toSorted());
  expect(await follow(world, start.cursor)).toEqual([]);
});

test('a lead that a read finds gone is told at once', async () => {
  const world = await setUp({ leads: { freshFor: '1s', feedInterval: '1m' } }, { tells: false });
  const one = world.lead();
  const { cursor } = await catchUp(world, 'from=start');
  world.tracker.deleteIssue(one);
  await world.service.clock.advance(2000);
  const read = world.service.get(`/api/v1/leads/${one}`);
  expect((await whileTimePasses(world.service.clock, read)).status).toBe(404);
  await eventually(async () =>
    expect((await catchUp(world, `cursor=${cursor}`)).items).toEqual([`-${one}`]),
  );
});

test('what went while nothing ran is told within a minute of the start', async () => {
  const world = await setUp(OFTEN, { tells: false });
  const { service, tracker } = world;
  const [one, two] = [world.lead(), world.lead()];
  const { cursor } = await catchUp(world, 'from=start');
  await follow(world, cursor);
  const { key, storePath, clock } = service;
  const stopped = service.service.stop();
  await whileTimePasses(clock, stopped);
  tracker.deleteIssue(one);
  const settings = { ...OFTEN, store: { url: `sqlite:${storePath}` } };
  const again = await compose({ apiUrl: tracker.url, clock, settings });
  const get = (target: string) => fetch(`${again.url}${target}`, { headers: { 'x-api-key': key } });
  const restarted = { ...world, service: { ...again, get } };
  for (let seconds = 0; seconds < 60; seconds += 5) await clock.advance(5000);
  await eventually(async () =>
    expect((await catchUp(restarted, `cursor=${cursor}`)).items).toContain(`-${one}`),
  );
  expect(two).not.toBe(one);
});

test('while the tracker fails, removals alone come, and nothing is skipped', async () => {
  const world = await setUp();
  const { service, tracker, lead } = world;
  const [one, two] = [lead(), lead()] as const;
  const start = await catchUp(world, 'from=start');
  await service.clock.advance(2000);
  tracker.editIssue(one, { title: 'Changed' });
  await tracker.hooks.settled();
  tracker.fault({ kind: 'status', status: 500, count: Infinity });
  await service.clock.advance(2000);
  await eventually(async () => {
    await service.clock.advance(200);
    const changes = service.get(`${PATH}?cursor=${start.cursor}`);
    expect((await whileTimePasses(service.clock, changes)).status).toBe(503);
  });
  expect((await sendDeletion(service.url, { eventId: 'e1', leadId: String(two) })).status).toBe(
    202,
  );
  const removal = await read(world, `cursor=${start.cursor}`);
  expect(told(removal)).toEqual([`-${two}`]);
  const { nextCursor } = removal.pagination;
  const failing = service.get(`${PATH}?cursor=${nextCursor}`);
  expect((await whileTimePasses(service.clock, failing)).status).toBe(503);
  tracker.clearFaults();
  await eventually(async () => {
    await service.clock.advance(5000);
    expect((await catchUp(world, `cursor=${nextCursor}`)).items).toContain(`+${one}`);
  });
});

test('does not begin with a list of before the tracker failed', async () => {
  const world = await setUp();
  world.lead();
  await catchUp(world, 'from=start');
  world.tracker.fault({ kind: 'status', status: 500, count: Infinity });
  await world.service.clock.advance(60_000);
  expect((await world.service.get('/api/v1/leads?state=all')).status).toBe(200);
  const begun = await whileTimePasses(world.service.clock, world.service.get(`${PATH}?from=start`));
  expect(begun.status).toBe(503);
  expect(await begun.json()).toHaveProperty('detail', expect.stringContaining('tracker'));
});

test.each([
  ['cursor=x', 'invalid-cursor'],
  ['cursor=x&from=start', 'validation-failed'],
  ['from=now', 'validation-failed'],
  ['limit=501', 'validation-failed'],
  ['wait=31s', 'validation-failed'],
  ['since=2026-01-01', 'validation-failed'],
])('%s is refused', async (query, code) => {
  const { service } = await setUp();
  expect(await (await service.get(`${PATH}?${query}`)).json()).toMatchObject({ code, status: 400 });
});

/** Listens, and gives what came since the last look. */
async function listen(
  { url, key }: Pick<Composed, 'url' | 'key'>,
  query: string,
  lastEventId?: string,
) {
  const hangUp = new AbortController();
  onTestFinished(() => hangUp.abort());
  const resumes = lastEventId !== undefined && { 'last-event-id': lastEventId };
  const response = await fetch(`${url}${PATH}?${query}`, {
    headers: { 'x-api-key': key, accept: 'text/event-stream', ...resumes },
    signal: hangUp.signal,
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  let isOver = false;
  void (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })()
    .catch(() => undefined)
    .then(() => (isOver = true));
  const events = () =>
    [...text.matchAll(/^event: (lead\.\S+)\ndata: (.*)$/gm)].map(
      ([, type, data]) =>
        `${type === 'lead.changed' ? '+' : '-'}${(JSON.parse(data ?? '') as { id: string }).id}`,
    );
  const lastId = () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  const stop = (): void => hangUp.abort();
  return { isOver: () => isOver, events, lastId, text: () => text, stop };
}

test('a stream goes on behind its last event, whatever its address says, and behind its cursor without one', async () => {
  const world = await setUp();
  const { service, lead } = world;
  const { cursor: begin } = await catchUp(world, '');
  const one = lead();
  let last = begin;
  await eventually(async () => {
    await service.clock.advance(200);
    const read = await catchUp(world, `cursor=${begin}`);
    expect(read.items).toEqual([`+${one}`]);
    last = read.cursor;
  });
  const atCursor = await listen(service, `cursor=${begin}`);
  const atNothing = await listen(service, `cursor=${begin}`, '');
  const resumed = [
    await listen(service, `cursor=${begin}`, last),
    await listen(service, 'from=start', last),
    await listen(service, '', last),
  ];
  for (const stream of [atCursor, atNothing])
    await eventually(() => expect(stream.events()).toEqual([`+${one}`]));
  const two = lead();
  for (const stream of resumed)
    await eventually(async () => {
      await service.clock.advance(200);
      expect(stream.events()).toEqual([`+${two}`]);
    });
});

test('a stream says whenever everything up to now was told', async () => {
  const { service, lead } = await setUp();
  const one = lead();
  await service.clock.advance(2 * MINUTE);
  const stream = await listen(service, 'from=start');
  const CAUGHT_UP = /^id: \S+\nevent: caught-up\ndata: \{\}\n\n/gm;
  const times = () => [...stream.text().matchAll(CAUGHT_UP)].length;
  await eventually(async () => {
    await service.clock.advance(1000);
    expect(times()).toBe(1);
  });
  expect(new Set(stream.events())).toEqual(new Set([`+${one}`]));
  const two = lead();
  await eventually(async () => {
    await service.clock.advance(200);
    expect(stream.events()).toContain(`+${two}`);
    expect(times()).toBeGreaterThan(1);
  });
  expect(stream.text()).toMatch(/event: lead\.changed\n.*\n\nid: \S+\nevent: caught-up\n/);
});

test.each([
  ['', 'text/event-stream', 200],
  ['from=start', 'text/event-stream', 200],
  ['cursor=x', 'application/problem+json', 400],
])('HEAD of a stream with %j answers with headers alone', async (query, type, status) => {
  const { service } = await setUp();
  const response = await fetch(`${service.url}${PATH}?${query}`, {
    method: 'HEAD',
    headers: { 'x-api-key': service.key, accept: 'text/event-stream' },
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toContain(type);
  expect(response.headers.get('content-length')).not.toBe('0');
  expect(await listenersOf(service)).toBe(0);
});

test('HEAD of a page waits for nothing', async () => {
  const { service } = await setUp();
  const headers = { 'x-api-key': service.key };
  const response = await fetch(`${service.url}${PATH}?wait=30s`, { method: 'HEAD', headers });
  expect(response.status).toBe(200);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0);
});

async function listenersOf({ url }: Pick<Composed, 'url'>): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^trackport_lead_feed_listeners (\d+)$/m.exec(metrics)?.[1]);
}

test('streams that end at once are no listeners any more', async () => {
  const { service } = await setUp();
  const streams = await Promise.all(Array.from({ length: 20 }, () => listen(service, '')));
  expect(await listenersOf(service)).toBe(20);
  for (const stream of streams) stream.stop();
  for (let times = 0; times < 20; times += 1) (await listen(service, 'from=start')).stop();
  await eventually(async () => expect(await listenersOf(service)).toBe(0));
});

test('a stream that begins now has a cursor before anything changes, and says that it is there', async () => {
  const { service } = await setUp();
  const stream = await listen(service, '');
  await eventually(() => expect(stream.lastId()).not.toBe(''));
  const { length } = stream.text();
  await eventually(async () => {
    await service.clock.advance(1000); // the service may have begun to wait only now
    expect(stream.text().slice(length)).toMatch(/^: $/m);
  });
});

test('a revoked key and a stop end a stream', async () => {
  const { service } = await setUp();
  const stream = await listen(service, '');
  const { id } = (await (await service.get('/api/v1/me')).json()) as { id: string };
  await service.service.access.consumers.revoke(
    { id },
    { actor: { kind: 'system', subject: 'test' } },
  );
  await eventually(() => expect(stream.isOver()).toBe(true));

  const other = await setUp();
  const waiting = await listen(other.service, '');
  const stopped = other.service.service.stop();
  await eventually(async () => {
    await other.service.clock.advance(100);
    expect(waiting.isOver()).toBe(true);
  });
  await Promise.all([stopped, other.service.clock.advance(20_000)]);
});

test('a stream ends when what its key may read is changed', async () => {
  const { service } = await setUp();
  const stream = await listen(service, '');
  const { id } = (await (await service.get('/api/v1/me')).json()) as { id: string };
  await service.service.access.consumers.replaceGrants(
    { id, grants: [{ action: 'leads:read', labels: ['eu'] }] },
    { actor: { kind: 'system', subject: 'test' } },
  );
  await eventually(() => expect(stream.isOver()).toBe(true));
});
