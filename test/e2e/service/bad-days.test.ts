/** The whole composed service on days when the tracker, the callers or the disk misbehave. */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Fault } from '#sandbox/instruments/faults.ts';
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { disturbWriter, letWritersBeDisturbed } from '../../support/writer/disturb.ts';
import { connectTo } from '../../support/stores.ts';
import {
  compose,
  type Composed,
  crmOne,
  openTracker,
  PARTNER_SECRET,
  sendDeletion,
  TRACKER_TOKEN,
  WEBHOOK_SECRET,
} from '../support/world.ts';
import { personalTexts, seedPeople } from '../support/people.ts';

const FRESH_FOR_MS = 15_000;
const MINUTE = 60_000;

type World = Composed & { tracker: Tracker; numbers: number[] };

type WorldOptions = {
  settings?: Record<string, unknown>;
};

async function openWorld(options: WorldOptions = {}): Promise<World> {
  const clock = createFakeClock();
  const tracker = await openTracker({ clock });
  const numbers = seedPeople(tracker);
  const composed = await compose({ apiUrl: tracker.url, clock, ...options });
  const world = { ...composed, tracker, numbers };
  onTestFinished(() => expectNothingTold(world));
  return world;
}

/** Holds on every day: the log names no person and no secret. */
function expectNothingTold({ logText, key }: World): void {
  const log = logText();
  for (const text of [...personalTexts, key, TRACKER_TOKEN, WEBHOOK_SECRET, PARTNER_SECRET])
    expect(log).not.toContain(text);
}

type ProblemBody = {
  code: string;
  status: number;
  detail: string;
  instance: string;
  errors?: { parameter?: string; code: string; detail: string }[];
};

async function problemOf(answer: Response): Promise<ProblemBody> {
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  return (await answer.json()) as ProblemBody;
}

type BadDay = {
  name: string;
  begin: (tracker: Tracker) => void;
  answer: { status: number; code: string; retryAfter?: string };
};

const FOREVER = Number.POSITIVE_INFINITY;
const armed =
  (fault: Fault) =>
  (tracker: Tracker): void =>
    tracker.fault({ ...fault, count: FOREVER });

const failed = { status: 502, code: 'tracker-failed' };
const unavailable = { status: 503, code: 'tracker-unavailable' };

/** One of each kind; how each response of the tracker is taken is decided in `adapters/github`. */
const badDays: BadDay[] = [
  { name: 'JSON that breaks off', begin: armed({ kind: 'truncated' }), answer: failed },
  { name: 'a broken connection', begin: armed({ kind: 'reset' }), answer: unavailable },
  {
    name: 'the primary limit',
    begin: armed({ kind: 'primary-limit', resetAfterSeconds: 120 }),
    answer: { ...unavailable, retryAfter: '120' },
  },
  { name: '401', begin: armed({ kind: 'bad-credentials' }), answer: unavailable },
];

type Readiness = { status: string; checks: { tracker: { state: string; detail?: string } } };

const SINCE =
  /^Calls have failed since 2026-03-01T12:00:00Z\. Last cause: [a-z-]+(?: \((?:\d{3}|E[A-Z]+)\))?\.$/;

async function trackerCheck(get: World['get']): Promise<Readiness['checks']['tracker']> {
  const { status, checks } = (await (await get('/readyz')).json()) as Readiness;
  expect(status).toBe('ready');
  return checks.tracker;
}

test.each(badDays)(
  'the tracker answers $name: cold it is told, warm the last answer serves for a while, and all recovers',
  async (day) => {
    const settings = { leads: { freshFor: '15s', staleIfError: '1m' } };
    const world = await openWorld({ settings });
    const detail = 'No call has succeeded yet.';
    expect(await trackerCheck(world.get)).toEqual({ state: 'unknown', detail });
    day.begin(world.tracker);
    await expectToldCold(world, day);
    await expectRecovered(world, day);
    await expectServedStale(world, day);
    await expectToldTooLate(world, day);
  },
);

test('that the version of the tracker’s API ends is told in /readyz, and after its end the cause', async () => {
  const warn = vi.spyOn(console, 'warn');
  const { tracker, clock, get } = await openWorld({});
  const sunsetAt = clock.now() + 10 * MINUTE;
  tracker.endVersion('2022-11-28', { deprecatedAt: clock.now(), sunsetAt });
  expect((await get('/api/v1/leads')).status).toBe(200);
  const notice =
    "Version 2022-11-28 of the tracker's API is deprecated as of 2026-03-01T12:00:00Z, and ends at 2026-03-01T12:10:00Z.";
  expect(await trackerCheck(get)).toEqual({
    state: 'ok',
    detail: expect.stringMatching(/calls left until .*Z\. Version/),
  });
  expect((await trackerCheck(get)).detail).toContain(notice);
  await clock.advance(10 * MINUTE);
  for (let count = 0; count < 3; count += 1) {
    await get(`/api/v1/leads/${count + 100}`);
    await clock.advance(3 * MINUTE);
  }
  expect(await trackerCheck(get)).toEqual({
    state: 'failing',
    detail: expect.stringContaining(`Last cause: version-retired (410). ${notice}`),
  });
  expect(warn.mock.calls).toEqual([]); // @octokit/request would name the addresses that were called
});

/** Both reads say so and hand on when to come back; so does /readyz, for minutes are over without a success. */
async function expectToldCold({ clock, get }: World, { name, answer: wanted }: BadDay) {
  const isExhausted = name === 'the primary limit';
  for (const [failures, target] of ['leads', 'leads/1', 'leads'].entries()) {
    const { state } = await trackerCheck(get);
    if (failures === 0) expect(state).toBe('unknown');
    else if (!isExhausted) expect(state).toBe('failing');
    const answer = await get(`/api/v1/${target}`);
    const retryAfter = answer.headers.get('retry-after');
    const text = await answer.clone().text();
    expect([target, answer.status]).toEqual([target, wanted.status]);
    expect(await problemOf(answer)).toMatchObject({ code: wanted.code, status: wanted.status });
    expect(text).not.toMatch(/credentials|127\.0\.0\.1:\d+\/repos/);
    // Without a time from the tracker the next wait is longer.
    if (wanted.retryAfter && failures === 0) expect(retryAfter).toBe(wanted.retryAfter);
    else if (wanted.status === 503) expect(retryAfter).toMatch(/^[1-9]\d*$/);
    else expect(retryAfter).toBeNull();
    if (isExhausted) expect(await trackerCheck(get)).toMatchObject({ state: 'exhausted' });
    await clock.advance(3 * MINUTE);
  }
  if (!isExhausted)
    expect(await trackerCheck(get)).toEqual({
      state: 'failing',
      detail: expect.stringMatching(SINCE),
    });
}

/** Nobody reads: asking how things are is enough. */
async function expectRecovered({ tracker, clock, get }: World, day: BadDay): Promise<void> {
  tracker.clearFaults();
  await clock.advance(3 * MINUTE);
  if (day.name === 'the primary limit') await get('/api/v1/leads');
  // Time goes on: what the look above asked may be refused only now, with a time to wait from here.
  const checkLater = async () => {
    await clock.advance(MINUTE);
    return (await trackerCheck(get)).state;
  };
  await expect.poll(checkLater).toBe('ok');
  for (const target of ['leads', 'leads/1'])
    expect((await get(`/api/v1/${target}`)).status).toBe(200);
}

/** The last answer serves, marked stale and aged, and then what is new. */
async function expectServedStale({ tracker, clock, get }: World, day: BadDay): Promise<void> {
  const good = await get('/api/v1/leads');
  const list = (await good.json()) as { items: object[] };
  expect(list.items).toHaveLength(2);
  // Something new is there, so that the answer to the next call is no 304.
  tracker.createIssue({ title: 'Later', labels: ['approved'] });
  await clock.advance(FRESH_FOR_MS + 5000);
  day.begin(tracker);

  const stale = await get('/api/v1/leads');
  expect(stale.headers.get('cache-status')).toMatch(/^trackport; fwd=stale(;|$)/);
  for (const answer of [stale, await get('/api/v1/leads')]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-status')).not.toMatch(/hit; ttl=-/);
    expect(answer.headers.get('age')).toBe('20');
    expect(answer.headers.get('etag')).toBe(good.headers.get('etag'));
    expect(await answer.json()).toEqual(list);
  }

  tracker.clearFaults();
  await clock.advance(3 * MINUTE);
  const answer = await get('/api/v1/leads');
  expect(answer.headers.get('cache-status')).toContain('fwd=miss');
  expect(answer.headers.get('age')).toBe('0');
  expect(await answer.json()).toMatchObject({ items: [{ title: 'Later' }, {}, {}] });
}

/** Longer than staleIfError nothing stale is served. */
async function expectToldTooLate({ tracker, clock, get }: World, day: BadDay): Promise<void> {
  tracker.createIssue({ title: 'Latest', labels: ['approved'] });
  day.begin(tracker);
  await clock.advance(MINUTE + FRESH_FOR_MS + 1);
  expect((await get('/api/v1/leads')).status).toBe(day.answer.status);
}

test('a tracker that hangs for long does not hold up a stop', async () => {
  const tracker = await openTracker();
  const gate = tracker.hold({ path: '/issues$' });
  const { service, clock } = await compose({
    apiUrl: tracker.url,
    requestTimeout: '1m',
    settings: { partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: ['s'] } } },
  });
  await gate.arrived();
  const stopped = service.stop();
  await clock.advance(9000);
  await expect(stopped).resolves.toBeUndefined();
});

test('whatever is no lead of this reader is the same 404', async () => {
  const { tracker, get } = await openWorld();
  const lead = (more: object = {}): string =>
    String(tracker.createIssue({ title: 'x', labels: ['approved'], ...more }).number);
  const deleted = lead();
  tracker.deleteIssue(Number(deleted));
  const deletedAndHidden = lead();
  tracker.deleteIssue(Number(deletedAndHidden), { hidden: true });
  const moved = lead();
  tracker.transferIssue(Number(moved), 'acme/other');
  const movedAndHidden = lead();
  tracker.transferIssue(Number(movedAndHidden), 'acme/other', { hidden: true });
  const ids = {
    unapproved: lead({ labels: ['approved?'] }),
    pullRequest: lead({ isPullRequest: true }),
    deleted,
    deletedAndHidden,
    moved,
    movedAndHidden,
    neverThere: '4711',
    huge: '99999999999999999999',
    zero: '0',
    negative: '-1',
    padded: '01',
    exponent: '1e0',
    hex: '0x1',
    blank: '%20',
    letters: 'abc',
    otherDigits: encodeURIComponent('１'),
    null: '%00',
    path: encodeURIComponent('../1'),
  };
  const bodies = new Map<string, string[]>();
  for (const [name, id] of Object.entries(ids)) {
    const answer = await get(`/api/v1/leads/${id}`);
    expect([name, answer.status]).toEqual([name, 404]);
    expect(answer.headers.has('cache-status')).toBe(false);
    const { instance, ...problem } = await problemOf(answer);
    expect(instance).toMatch(/^urn:uuid:/);
    const text = JSON.stringify(problem);
    bodies.set(text, [...(bodies.get(text) ?? []), name]);
  }
  expect([...bodies.values()]).toEqual([Object.keys(ids)]);
  expect([...bodies.keys()][0]).toContain('"code":"lead-not-found"');
});

describe('store trouble', () => {
  const partners = { 'crm-one': crmOne };

  const countReceipts = ({ storePath }: World): unknown =>
    connectTo(storePath).handle.prepare('SELECT count(*) FROM receipt').pluck().get();

  async function storeOf({ get }: World): Promise<unknown> {
    const answer = await get('/readyz');
    const { checks } = (await answer.json()) as { checks: { store: object } };
    return { status: answer.status, ...checks.store };
  }

  /** More than the store can take where it is: the payload is kept until it is settled. */
  const big = {
    eventType: 'lead.deletion',
    eventId: 'big',
    email: personalTexts[1],
    note: randomBytes(300_000).toString('hex'),
  };

  test.each([
    {
      name: 'a full disk',
      begin: async ({ storePath }: World) => {
        const pages = await disturbWriter(storePath, 'page_count');
        await disturbWriter(storePath, `max_page_count = ${String(pages)}`);
      },
      detail: 'The store has no space left.',
      end: ({ storePath }: World) => disturbWriter(storePath, 'max_page_count = 1000000'),
    },
    {
      name: 'a store that cannot be written',
      begin: ({ storePath }: World) => disturbWriter(storePath, 'query_only = ON'),
      detail: 'The store cannot be written.',
      end: ({ storePath }: World) => disturbWriter(storePath, 'query_only = OFF'),
    },
  ])('$name: nothing is accepted, leads are still read, and all goes on after it', async (day) => {
    letWritersBeDisturbed();
    const world = await openWorld({ settings: { partners } });
    const { get } = world;
    await day.begin(world);

    const refused = await sendDeletion(world.url, big);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const problem = await problemOf(refused);
    expect(problem.code).toBe('store-unavailable');
    expect(JSON.stringify(problem)).not.toMatch(/SQLITE|trackport\.db|INSERT/i);
    expect(countReceipts(world)).toBe(0);
    expect((await get('/api/v1/leads')).status).toBe(200);
    expect(await storeOf(world)).toEqual({ status: 503, state: 'unavailable', detail: day.detail });

    await day.end(world);
    await world.clock.advance(2000);
    expect(await storeOf(world)).toEqual({ status: 200, state: 'ok' });
    const accepted = await sendDeletion(world.url, big);
    expect(accepted.status).toBe(202);
    expect(await accepted.json()).toMatchObject({ status: 'ACCEPTED' });
    expect(countReceipts(world)).toBe(1);
  });

  test('another process that writes: a delivery waits for it, leads are read meanwhile', async () => {
    letWritersBeDisturbed();
    const world = await openWorld({ settings: { partners } });
    const { handle } = connectTo(world.storePath);
    handle.pragma('busy_timeout = 0'); // the service is in this process: it must not wait for this one
    handle.exec('BEGIN IMMEDIATE');
    const waiting = sendDeletion(world.url, big);
    for (let read = 0; read < 5; read += 1)
      expect((await world.get('/api/v1/leads')).status).toBe(200);
    handle.exec('ROLLBACK');
    expect((await waiting).status).toBe(202);

    await eventually(() => handle.exec('BEGIN IMMEDIATE'));
    const refused = await sendDeletion(world.url, { ...big, eventId: 'later' });
    expect(refused.status).toBe(503);
    expect((await problemOf(refused)).code).toBe('store-unavailable');
    handle.exec('ROLLBACK');
    expect(countReceipts(world)).toBe(1);
  });

  test('a damaged file: 503, never a guess and never a crash', async () => {
    letWritersBeDisturbed();
    const world = await openWorld({ settings: { partners } });
    const database = connectTo(world.storePath);
    database.handle.exec('UPDATE claim_version SET version = version'); // cached pages go
    expect(await database.truncateWal()).toBe(true);
    const pages = database.handle.pragma('page_count', { simple: true }) as number;
    const file = openSync(world.storePath, 'r+');
    writeSync(file, randomBytes((pages - 1) * 4096), 0, (pages - 1) * 4096, 4096);
    closeSync(file);
    await disturbWriter(world.storePath, 'shrink_memory');

    const refused = await sendDeletion(world.url, { eventId: '1', leadId: '1' });
    for (const answer of [refused, await world.get('/api/v1/leads')]) {
      const { code, detail } = await problemOf(answer);
      expect([answer.status, code]).toEqual([503, 'store-unavailable']);
      expect(detail).toBe('The store is damaged.');
    }
    expect((await world.get('/healthz')).status).toBe(200);
  });
});
