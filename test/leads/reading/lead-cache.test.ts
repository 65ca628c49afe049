import { describe, expect, test, vi } from 'vitest';
import type { ClaimView } from '#leads/claims/claim-view.ts';

import { whileTimePasses } from '../../support/clock.ts';
import { trackerDown } from '../fake-tracker.ts';
import { eventually } from '../../support/eventually.ts';
import { createClaims } from '../../support/claims.ts';
import { openedDirectory } from '../../support/directory.ts';
import { createWorld, everybody, type World } from '../support.ts';

function event(world: World, number: number, isGone = false): void {
  const issue = world.tracker.issues.get(number);
  if (!issue) throw new Error(`no issue ${number}`);
  world.leads.applyEvent({ kind: 'issue', issue, isGone });
}

/** Resolves when so many calls have come to the tracker. */
const untilAsked = (world: World, calls = 1): Promise<void> =>
  eventually(() => expect(world.tracker.calls).toHaveLength(calls), 1);

describe('freshness', () => {
  test('serves a fresh list and every lead in it without a call', async () => {
    const world = createWorld();
    world.tracker.open();
    world.tracker.open();
    const first = await world.list();
    expect(first.cache).toMatchObject({ outcome: 'miss', ageMs: 0, ttlMs: 15_000 });
    await world.clock.advance(14_000);
    const again = await world.list();
    expect(again.cache).toMatchObject({ outcome: 'hit', ageMs: 14_000, ttlMs: 1000 });
    expect(again.value).toBe(first.value);
    expect((await world.leads.reader.read('2', everybody)).cache.outcome).toBe('hit');
    expect(world.tracker.calls).toHaveLength(1);
  });

  test('asks again when the time is over, for nothing while nothing changed', async () => {
    const world = createWorld();
    world.tracker.open();
    const first = await world.list();
    await world.clock.advance(15_000);
    const again = await world.list();
    expect(again.value).toBe(first.value);
    expect(world.tracker.calls).toHaveLength(2);
    expect(world.tracker.billed).toBe(1);
  });

  test('counts time that passes, not a clock that is set back by a day', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.list();
    world.clock.set(world.clock.now() - 86_400_000);
    await world.clock.advance(14_999);
    expect((await world.list()).cache).toEqual({ outcome: 'hit', ageMs: 14_999, ttlMs: 1 });
    await world.clock.advance(1);
    expect((await world.list()).cache).toEqual({ outcome: 'miss', ageMs: 0, ttlMs: 15_000 });
  });

  test('shares upstream pages among all limits', async () => {
    const world = createWorld();
    for (let index = 0; index < 90; index += 1) world.tracker.open();
    for (const limit of [1, 7, 50, 100]) await world.list({ limit });
    expect(world.tracker.calls).toHaveLength(1);
  });

  test('answers even when nothing fits into the cache', async () => {
    const world = createWorld({ cacheBytesMax: 10 });
    for (let index = 0; index < 150; index += 1) world.tracker.open();
    expect(await world.walk({ limit: 50 })).toHaveLength(150);
    await expect(Promise.all([world.ids(), world.ids({ state: 'all' })])).resolves.toHaveLength(2);
  });

  test('takes the cursor of the next page from an unchanged answer', async () => {
    const world = createWorld();
    for (let index = 0; index < 100; index += 1)
      world.tracker.open({ createdAt: Date.parse('2026-01-01') + index * 1000 });
    expect(await world.walk({ limit: 100 })).toHaveLength(100);
    world.tracker.open({ createdAt: Date.parse('2025-01-01') });
    await world.clock.advance(15_000);
    expect(await world.walk({ limit: 100 })).toHaveLength(101);
  });

  test('keeps the cursor of the next page when an unchanged answer names none', async () => {
    const world = createWorld();
    for (let index = 0; index < 150; index += 1) world.tracker.open();
    expect(await world.walk({ limit: 100 })).toHaveLength(150);
    world.tracker.hasBareUnchanged = true;
    await world.clock.advance(15_000);
    expect(await world.walk({ limit: 100 })).toHaveLength(150);
    for (let number = 1; number <= 50; number += 1) world.tracker.remove(number);
    await world.clock.advance(15_000);
    expect(await world.walk({ limit: 100 })).toHaveLength(100);
  });
});

describe('a lead by its id', () => {
  test.each(['0', '-1', 'abc', '1e3', '01', '99999999999', '', '1 ', '٣'])(
    'is not found as %j, without a call',
    async (id) => {
      const world = createWorld();
      await expect(world.leads.reader.read(id, everybody)).rejects.toMatchObject({
        code: 'lead-not-found',
      });
      expect(world.tracker.calls).toHaveLength(0);
    },
  );

  test('is not found when missing, unapproved, a pull request, claimed or out of sight', async () => {
    const world = createWorld();
    world.tracker.open({ labels: ['other'] });
    world.tracker.open({ isPullRequest: true });
    world.tracker.open();
    world.tracker.open({ labels: ['approved', 'emea'] });
    await world.claim(3);
    for (const id of ['1', '2', '3', '9'])
      await expect(world.leads.reader.read(id, everybody)).rejects.toMatchObject({
        code: 'lead-not-found',
      });
    await expect(
      world.leads.reader.read('4', { consumerId: 'c', labels: ['apac'] }),
    ).rejects.toMatchObject({ code: 'lead-not-found' });
    expect(
      (await world.leads.reader.read('4', { consumerId: 'c', labels: ['EMEA'] })).value.id,
    ).toBe('4');
  });

  test('that is missing is remembered as missing', async () => {
    const world = createWorld();
    for (let index = 0; index < 3; index += 1)
      await expect(world.leads.reader.read('5', everybody)).rejects.toThrow();
    expect(world.tracker.calls).toHaveLength(1);
  });
});

describe('the webhook', () => {
  test('makes lists and details current at once', async () => {
    const world = createWorld();
    world.tracker.open();
    world.tracker.open();
    await world.ids();
    world.tracker.change(1, { state: 'closed' });
    event(world, 1);
    expect(await world.ids()).toEqual(['2']);
    world.tracker.open();
    event(world, 3);
    const fresh = world.ids();
    await world.clock.advance(1000);
    expect(await fresh).toEqual(['3', '2']);
  });

  test('leaves pages alone that the change cannot concern', async () => {
    const world = createWorld();
    for (let index = 0; index < 300; index += 1)
      world.tracker.open({ createdAt: Date.parse('2026-01-01') + index * 1000 });
    await world.walk({ limit: 100 });
    await world.ids({ state: 'closed' });
    const calls = world.tracker.calls.length;
    await world.clock.advance(2000);
    world.tracker.change(10, { title: 'new' });
    event(world, 10);
    await world.ids({ limit: 50 });
    await world.ids({ state: 'closed' });
    expect(world.tracker.calls).toHaveLength(calls);
    const edited = await world.walk({ limit: 100 });
    expect(edited.find((lead) => lead.id === '10')?.title).toBe('new');
    expect(world.tracker.calls).toHaveLength(calls + 1);
  });

  test('is not undone by a read that was already under way', async () => {
    const world = createWorld();
    world.tracker.open();
    const barrier = Promise.withResolvers<void>();
    world.tracker.barrier = barrier.promise;
    const early = world.ids();
    await untilAsked(world);
    world.tracker.barrier = undefined;
    await world.clock.advance(10);
    world.tracker.change(1, { labels: [] });
    event(world, 1);
    const late = world.ids();
    barrier.resolve();
    await early;
    expect(await late).toEqual([]);
    expect(await world.ids()).toEqual([]);
  });

  test('lets nobody see what it refuted, though the replica lags', async () => {
    const world = createWorld();
    world.tracker.open();
    world.tracker.open();
    await world.ids();
    world.tracker.replica = new Map(world.tracker.issues);
    await world.clock.advance(5000);
    world.tracker.change(1, { labels: ['other'] });
    event(world, 1);
    expect(await world.ids()).toEqual(['2']);
    await expect(world.leads.reader.read('1', everybody)).rejects.toMatchObject({
      code: 'lead-not-found',
    });
    world.tracker.replica = undefined;
    await world.clock.advance(1000);
    expect(await world.ids()).toEqual(['2']);
    const calls = world.tracker.calls.length;
    await world.clock.advance(1000);
    await world.ids();
    expect(world.tracker.calls).toHaveLength(calls);
  });

  test('keeps an answer that lags for a second only', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.ids();
    world.tracker.replica = new Map(world.tracker.issues);
    await world.clock.advance(5000);
    world.tracker.open();
    event(world, 2);
    expect(await world.list()).toMatchObject({
      value: { items: [{ id: '1' }] },
      cache: { outcome: 'miss', ttlMs: 1000 },
    });
    world.tracker.replica = undefined;
    await world.clock.advance(1000);
    expect(await world.ids()).toEqual(['2', '1']);
  });

  test('makes a deleted issue vanish even while the tracker is down', async () => {
    const world = createWorld();
    world.tracker.open();
    world.tracker.open();
    await world.ids();
    world.tracker.failure = trackerDown();
    event(world, 1, true);
    expect(await world.ids()).toEqual(['2']);
  });

  test('is not forgotten while last good answers are served', async () => {
    const world = createWorld();
    world.tracker.open();
    world.tracker.open();
    await world.ids();
    world.tracker.failure = trackerDown();
    await world.clock.advance(2000);
    world.tracker.change(1, { labels: ['other'] });
    event(world, 1);
    for (let minutes = 0; minutes < 55; minutes += 5) {
      expect(await world.ids()).toEqual(['2']);
      await world.clock.advance(300_000);
    }
  });

  test('loads a key at most once a second in a storm, and never shows what was refuted', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.ids();
    const calls = world.tracker.calls.length;
    for (let index = 0; index < 20; index += 1) {
      world.tracker.change(1, { title: `edit ${index}` });
      event(world, 1);
      const read = world.list();
      await world.clock.advance(100);
      if (index % 10 === 9) await world.clock.advance(1000);
      if (index % 10 === 9) expect((await read).value.items[0]?.title).toBe(`edit ${index}`);
    }
    expect(world.tracker.calls.length - calls).toBeLessThanOrEqual(5);
  });

  test('of a label or the repository makes everything be asked again', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.ids();
    world.leads.applyEvent({ kind: 'everything' });
    await world.ids();
    expect(world.tracker.calls).toHaveLength(2);
    world.leads.applyEvent({ kind: 'ignored' });
    await world.ids();
    expect(world.tracker.calls).toHaveLength(2);
  });
});

describe('an issue that the webhook brings', () => {
  const read = async (world: World, number: number) =>
    (await world.leads.reader.read(String(number), everybody)).value.title;

  /** A lead whose earlier state nobody has read, some time after the start. */
  async function openSome(): Promise<World> {
    const world = createWorld();
    world.tracker.open();
    await world.clock.advance(60_000);
    return world;
  }

  test('is shown without a call, for as long as if it had been asked for when it changed', async () => {
    const world = await openSome();
    world.tracker.change(1, { title: 'New' });
    await world.clock.advance(2000);
    event(world, 1);
    const { value, cache } = await world.leads.reader.read('1', everybody);
    expect(value.title).toBe('New');
    expect(cache).toMatchObject({ outcome: 'hit', ageMs: 2000, ttlMs: 13_000 });
    expect(world.tracker.calls).toEqual([]);
    await world.clock.advance(13_000);
    await read(world, 1);
    expect(world.tracker.calls).toEqual(['issue 1']);
  });

  test('is no lead any more without a call, when it lost the label', async () => {
    const world = await openSome();
    await world.ids();
    await world.clock.advance(2000);
    world.tracker.change(1, { labels: ['other'] });
    event(world, 1);
    world.tracker.calls.length = 0;
    await expect(read(world, 1)).rejects.toMatchObject({ code: 'lead-not-found' });
    expect(world.tracker.calls).toEqual([]);
  });

  test.each<[string, (world: World) => Promise<void> | void]>([
    [
      'comes later than it may be shown',
      async (world) => {
        const former = { ...world.tracker.change(1, { title: 'Former' }) };
        await world.clock.advance(15_000);
        world.tracker.change(1, { title: 'Now' });
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'comes behind a newer one',
      async (world) => {
        const former = world.tracker.change(1, { title: 'Former' });
        await world.clock.advance(1000);
        world.tracker.change(1, { title: 'Now' });
        event(world, 1);
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'comes behind a newer one that another instance was told',
      async (world) => {
        const former = world.tracker.change(1, { title: 'Former' });
        await world.clock.advance(1000);
        const { title: _title, body: _body, ...facts } = world.tracker.change(1, { title: 'Now' });
        world.hearFromOthers({ kind: 'issue', issue: facts, isGone: false });
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'comes behind more events than are remembered',
      async (world) => {
        const former = world.tracker.change(1, { title: 'Former' });
        await world.clock.advance(1000);
        const { title: _title, body: _body, ...facts } = world.tracker.change(1, { title: 'Now' });
        for (let number = 1; number <= 20_001; number += 1)
          world.hearFromOthers({ kind: 'issue', issue: { ...facts, number }, isGone: false });
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'is of the same second as another one',
      (world) => {
        const former = world.tracker.change(1, { title: 'Former' });
        world.tracker.change(1, { title: 'Now' });
        event(world, 1);
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'is older than what a read showed',
      async (world) => {
        const former = world.tracker.change(1, { title: 'Former' });
        await world.clock.advance(1000);
        world.tracker.change(1, { title: 'Now' });
        await read(world, 1);
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'is older than what a list showed',
      async (world) => {
        const former = world.tracker.change(1, { title: 'Former' });
        await world.clock.advance(1000);
        world.tracker.change(1, { title: 'Now' });
        await world.ids();
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'was so before a label got another name',
      async (world) => {
        const former = world.tracker.change(1, { title: 'Former' });
        await world.clock.advance(1000);
        world.tracker.change(1, { title: 'Now', updatedAt: former.updatedAt });
        world.leads.applyEvent({ kind: 'everything' });
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
    [
      'is dated ahead of the clock',
      (world) => {
        const updatedAt = world.clock.now() + 1000;
        const former = world.tracker.change(1, { title: 'Former', updatedAt });
        world.tracker.change(1, { title: 'Now', updatedAt });
        world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
      },
    ],
  ])('is asked for when it %s', async (_when, tell) => {
    const world = await openSome();
    await tell(world);
    world.tracker.calls.length = 0;
    const title = read(world, 1);
    await world.clock.advance(1000);
    expect(await title).toBe('Now');
    expect(world.tracker.calls).toEqual(['issue 1']);
  });

  test('is asked for when it was so before this instance began', async () => {
    const world = createWorld();
    const updatedAt = world.clock.now() - 1000;
    const former = world.tracker.open({ title: 'Former', updatedAt });
    world.tracker.change(1, { title: 'Now', updatedAt });
    world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
    expect(await read(world, 1)).toBe('Now');
  });

  test('stays gone when an older state comes behind its deletion', async () => {
    const world = await openSome();
    const former = world.tracker.change(1, { title: 'Former' });
    await world.clock.advance(1000);
    const deleted = { ...former, updatedAt: former.updatedAt - 1000 };
    world.leads.applyEvent({ kind: 'issue', issue: deleted, isGone: true });
    world.tracker.remove(1);
    world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
    const reading = whileTimePasses(world.clock, read(world, 1));
    await expect(reading).rejects.toMatchObject({ code: 'lead-not-found' });
    expect(world.tracker.calls).toEqual(['issue 1']);
  });

  test('is no last good answer when it comes late', async () => {
    const world = await openSome();
    const former = world.tracker.change(1, { title: 'Former' });
    await world.clock.advance(60_000);
    world.leads.applyEvent({ kind: 'issue', issue: former, isGone: false });
    world.tracker.failure = trackerDown();
    await expect(read(world, 1)).rejects.toMatchObject({ code: 'tracker-unavailable' });
  });

  test('is shown though a replica lags whose list was read since', async () => {
    const world = await openSome();
    world.tracker.replica = new Map(world.tracker.issues);
    world.tracker.change(1, { title: 'New' });
    event(world, 1);
    await world.ids();
    expect(await read(world, 1)).toBe('New');
  });

  test('is shown though a read that began before it ends behind it', async () => {
    const world = await openSome();
    const barrier = Promise.withResolvers<void>();
    world.tracker.barrier = barrier.promise;
    const early = read(world, 1);
    await untilAsked(world);
    await world.clock.advance(10);
    world.tracker.change(1, { title: 'New' });
    event(world, 1);
    barrier.resolve();
    await early;
    expect(await read(world, 1)).toBe('New');
    expect(world.tracker.calls).toEqual(['issue 1']);
  });
});

describe('a claim', () => {
  test('takes a lead out of lists, details and stale answers at once', async () => {
    const world = createWorld();
    world.tracker.open();
    world.tracker.open();
    await world.ids();
    await world.claim(1);
    expect(await world.ids()).toEqual(['2']);
    world.tracker.failure = trackerDown();
    await world.clock.advance(60_000);
    const { value, cache } = await world.list();
    expect(value.items.map((lead) => lead.id)).toEqual(['2']);
    expect(cache.outcome).toBe('stale');
  });

  test('answers not found without a call, also while the tracker is down', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.claim(1);
    const read = () => world.leads.reader.read('1', everybody);
    await expect(read()).rejects.toMatchObject({ code: 'lead-not-found' });
    world.tracker.failure = trackerDown();
    await expect(read()).rejects.toMatchObject({ code: 'lead-not-found' });
    expect(world.tracker.calls).toEqual([]);
  });

  test('costs one look at the claims where no call is needed', async () => {
    const current = vi.fn<ClaimView['current']>(async () => ({ has: () => false }));
    const world = createWorld({ claimView: { current } });
    world.tracker.open();
    await world.leads.reader.read('1', everybody);
    current.mockClear();
    await world.leads.reader.read('1', everybody);
    expect(current).toHaveBeenCalledTimes(1);
  });

  test('made while the tracker is being asked counts for that answer', async () => {
    const world = createWorld();
    world.tracker.open();
    world.tracker.open();
    const barrier = Promise.withResolvers<void>();
    world.tracker.barrier = barrier.promise;
    const list = world.ids();
    const one = Promise.allSettled([world.leads.reader.read('1', everybody)]);
    await untilAsked(world, 2);
    await world.claim(1);
    barrier.resolve();
    expect(await list).toEqual(['2']);
    expect(await one).toMatchObject([{ reason: { code: 'lead-not-found' } }]);
  });
});

const actor = { kind: 'cli', subject: 'operator' } as const;

describe('a released claim', () => {
  test('gives the lead back although it was released while the tracker was being asked', async () => {
    const world = createWorld();
    await openedDirectory(world.database);
    world.tracker.open();
    world.tracker.open();
    await world.claim(1);
    const barrier = Promise.withResolvers<void>();
    world.tracker.barrier = barrier.promise;
    const early = world.ids();
    await untilAsked(world);
    await createClaims(world.database).release(1, { at: 1, actor });
    barrier.resolve();
    await early;
    expect(await world.ids()).toEqual(['2', '1']);
  });
});

describe('while the tracker fails', () => {
  test('serves the last good answer, marked, for as long as allowed', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.ids();
    world.tracker.failure = trackerDown();
    await world.clock.advance(20_000);
    expect((await world.list()).cache).toMatchObject({ outcome: 'stale', ageMs: 20_000 });
    await world.clock.advance(3_594_000);
    expect((await world.list()).cache.outcome).toBe('stale');
    await world.clock.advance(1000);
    await expect(world.list()).rejects.toMatchObject({ code: 'tracker-unavailable' });
  });

  test('serves a lead from a list that was good when the lead itself was never asked for', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.ids();
    world.tracker.failure = trackerDown();
    await world.clock.advance(20_000);
    const read = () => world.leads.reader.read('1', everybody);
    expect((await read()).cache).toMatchObject({ outcome: 'stale', ageMs: 20_000 });
    await expect(world.leads.reader.read('2', everybody)).rejects.toMatchObject({
      code: 'tracker-unavailable',
    });
    await world.clock.advance(3_600_000);
    await expect(read()).rejects.toMatchObject({ code: 'tracker-unavailable' });
  });

  test('serves the newer of a lead’s own answer and a list’s', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.leads.reader.read('1', everybody);
    await world.clock.advance(15_000);
    world.tracker.change(1, { title: 'Newer' });
    await world.ids();
    world.tracker.failure = trackerDown();
    await world.clock.advance(20_000);
    expect((await world.leads.reader.read('1', everybody)).value.title).toBe('Newer');
  });
});

describe('the quota', () => {
  test('below a tenth is the worker’s: cold reads wait for the reset, warm ones are served', async () => {
    const world = createWorld();
    world.tracker.open();
    await world.ids();
    world.tracker.quotaNow = {
      limit: 5000,
      remaining: 400,
      resetAt: world.clock.now() + 600_000,
    };
    await world.clock.advance(120_000);
    expect((await world.list()).cache.outcome).toBe('stale');
    await expect(world.list({ state: 'all' })).rejects.toMatchObject({
      code: 'tracker-unavailable',
      retryAfterSeconds: 480,
    });
    expect(world.tracker.calls).toHaveLength(1);
    await world.clock.advance(480_000);
    await expect(world.ids()).resolves.toEqual(['1']);
  });
});
