import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createWorld, everybody, type World } from '../support.ts';

const numbers = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => String(from - index));

function seed(world: World, count: number, facts: (index: number) => object = () => ({})): void {
  for (let index = 0; index < count; index += 1)
    world.tracker.open({ createdAt: Date.parse('2026-01-01') + index * 60_000, ...facts(index) });
}

describe('walking the list', () => {
  test.each([1, 7, 50, 100])('is complete and in order with limit %i', async (limit) => {
    const world = createWorld();
    seed(world, 250);
    const ids = (await world.walk({ limit })).map((lead) => lead.id);
    expect(ids).toEqual(numbers(250, 1));
  });

  test('fills every page but the last, whatever stands between', async () => {
    const world = createWorld();
    seed(world, 350, (index) => ({
      isPullRequest: index % 3 === 0,
      ...(index % 7 === 0 && { labels: ['other'] }),
    }));
    await world.claim(3);
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const { value } = await world.list({ limit: 10, ...(cursor !== undefined && { cursor }) });
      sizes.push(value.items.length);
      cursor = value.pagination.nextCursor;
      expect(value.pagination.hasMore).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    expect(sizes.slice(0, -1).every((size) => size === 10)).toBe(true);
    expect(sizes.at(-1)).toBeGreaterThan(0);
  });

  test('finds the one lead behind a page of pull requests', async () => {
    const world = createWorld();
    seed(world, 101, (index) => ({ isPullRequest: index > 0 }));
    expect(await world.ids({ limit: 10 })).toEqual(['1']);
  });

  test('says that nothing follows when only invisible issues do', async () => {
    const world = createWorld();
    seed(world, 150, (index) => ({ isPullRequest: index < 140 }));
    const { value } = await world.list({ limit: 10 });
    expect(value.pagination).toEqual({ hasMore: false });
  });

  test('orders issues of one second by number, across upstream pages too', async () => {
    const world = createWorld();
    const createdAt = Date.parse('2026-01-01');
    for (let index = 0; index < 230; index += 1)
      world.tracker.open({ createdAt, id: (index * 7919) % 1009 });
    expect((await world.walk({ limit: 30 })).map((lead) => lead.id)).toEqual(numbers(230, 1));
  });

  test('costs one call for each hundred rows', async () => {
    const world = createWorld();
    seed(world, 1000, (index) => ({ isPullRequest: index % 5 === 0 }));
    await world.walk({ limit: 50 });
    expect(world.tracker.billed).toBe(10);
    await world.walk({ limit: 33 });
    expect(world.tracker.billed).toBe(10);
  });

  test('may change its limit from page to page', async () => {
    const world = createWorld();
    seed(world, 20);
    const first = await world.list({ limit: 3 });
    const cursor = first.value.pagination.nextCursor ?? '';
    expect(await world.ids({ limit: 100, cursor })).toEqual(numbers(17, 1));
  });

  test('goes on where the lead of the cursor was closed or deleted', async () => {
    const world = createWorld();
    seed(world, 30);
    const { value } = await world.list({ limit: 10 });
    world.tracker.remove(21);
    world.tracker.change(20, { state: 'closed' });
    await world.clock.advance(20_000);
    expect(await world.ids({ limit: 5, cursor: value.pagination.nextCursor ?? '' })).toEqual(
      numbers(19, 15),
    );
  });
});

describe('a cursor', () => {
  test('carries its filters: alone, and beside the same ones, the walk goes on', async () => {
    const world = createWorld();
    seed(world, 40, (index) => ({
      labels: ['approved', ...(index % 2 === 0 ? ['Hot', 'emea'] : [])],
      state: index % 4 === 0 ? 'closed' : 'open',
    }));
    const since = Date.parse('2020-01-01');
    const filters = { state: 'all' as const, labels: ['hot', 'EMEA'], since };
    const whole = await world.ids({ limit: 100, ...filters });
    const first = await world.list({ limit: 5, ...filters });
    const cursor = first.value.pagination.nextCursor ?? '';
    expect(whole).toHaveLength(20);
    for (const beside of [{}, filters, { labels: ['Emea', 'HOT'] }, { since }]) {
      const rest = await world.list({ limit: 100, cursor, ...beside });
      const ids = [...first.value.items, ...rest.value.items].map(({ id }) => id);
      expect(ids).toEqual(whole);
    }
    const second = await world.list({ limit: 5, cursor });
    const third = await world.list({ cursor: second.value.pagination.nextCursor ?? '' });
    expect(third.value.items.map(({ id }) => id)).toEqual(whole.slice(10));
  });

  test('names each filter beside it that differs, and no other', async () => {
    const world = createWorld();
    seed(world, 5, () => ({ labels: ['approved', 'a'] }));
    const first = await world.list({ limit: 2, state: 'all', labels: ['a'] });
    const cursor = first.value.pagination.nextCursor ?? '';
    const wrong = { state: 'open' as const, labels: ['a'], since: 1 };
    await expect(world.list({ cursor, ...wrong })).rejects.toMatchObject({
      code: 'invalid-cursor',
      errors: [
        { parameter: 'state', code: 'differs', detail: expect.stringContaining('`state`') },
        { parameter: 'since', code: 'differs' },
      ],
    });
  });

  test('is long enough for the longest filters', async () => {
    const world = createWorld();
    const labels = Array.from({ length: 10 }, (_, at) => `${'ÿ'.repeat(199)}${at}`);
    seed(world, 3, () => ({ labels: ['approved', ...labels] }));
    const first = await world.list({ limit: 1, labels });
    const cursor = first.value.pagination.nextCursor ?? '';
    expect((await world.list({ cursor })).value.items).toHaveLength(2);
  });

  test.each([
    ['other labels', { labels: ['x'] }, everybody],
    ['another state', { state: 'all' as const }, everybody],
    ['since', { since: 1 }, everybody],
    ['another consumer', {}, { ...everybody, consumerId: 'c2' }],
    ['other grants', {}, { ...everybody, labels: ['emea'] }],
  ])('is refused with %s, without a call', async (_what, query, visibility) => {
    const world = createWorld();
    seed(world, 5);
    const cursor = (await world.list({ limit: 2 })).value.pagination.nextCursor ?? '';
    const calls = world.tracker.calls.length;
    await expect(world.list({ limit: 2, cursor, ...query }, visibility)).rejects.toMatchObject({
      code: 'invalid-cursor',
    });
    expect(world.tracker.calls).toHaveLength(calls);
  });

  test('is refused when any character was changed or cut off', async () => {
    const world = createWorld();
    seed(world, 5);
    const cursor = (await world.list({ limit: 2 })).value.pagination.nextCursor ?? '';
    for (let at = 0; at < cursor.length; at += 1) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      const altered = cursor.slice(0, at) + other + cursor.slice(at + 1);
      await expect(world.list({ limit: 2, cursor: altered })).rejects.toMatchObject({
        code: 'invalid-cursor',
      });
    }
    for (const altered of ['', 'x', cursor.slice(0, -1), `${cursor}A`, `${cursor}=`])
      await expect(world.list({ limit: 2, cursor: altered })).rejects.toMatchObject({
        code: 'invalid-cursor',
      });
  });
});

type Step = {
  kind: 'open' | 'close' | 'reopen' | 'label' | 'edit' | 'remove' | 'wait';
  at: number;
};

/** Applies a step and returns the number of the lead that may have left or joined the list. */
function apply(world: World, { kind, at }: Step): number | undefined {
  const all = [...world.tracker.issues.keys()];
  const number = all[at % all.length] ?? 1;
  const issue = world.tracker.issues.get(number);
  switch (kind) {
    case 'open':
      return world.tracker.open().number;
    case 'close':
      world.tracker.change(number, { state: 'closed' });
      return number;
    case 'reopen':
      world.tracker.change(number, { state: 'open' });
      return number;
    case 'label':
      world.tracker.change(number, {
        labels: issue?.labels.includes('approved') ? [] : ['approved'],
      });
      return number;
    case 'edit':
      world.tracker.change(number, { title: 'edited' });
      return undefined;
    case 'remove':
      world.tracker.remove(number);
      return number;
    case 'wait':
      return undefined;
  }
}

describe('whatever happens between two pages', () => {
  const step = fc.record({
    kind: fc.constantFrom(
      'open' as const,
      'close' as const,
      'reopen' as const,
      'label' as const,
      'edit' as const,
      'remove' as const,
      'wait' as const,
    ),
    at: fc.nat(400),
  });
  const script = fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 40 });
  const seeds = fc.array(
    fc.record({ minutes: fc.nat(60), pull: fc.boolean(), closed: fc.boolean() }),
    { minLength: 120, maxLength: 260 },
  );

  const play = async (
    rows: { minutes: number; pull: boolean; closed: boolean }[],
    steps: Step[][],
    query: { limit: number; since?: number; state: 'open' | 'all' },
    withEvents: boolean,
  ) => {
    const world = createWorld();
    const start = Date.parse('2026-01-01');
    for (const { minutes, pull, closed } of rows)
      world.tracker.open({
        createdAt: start + minutes * 60_000,
        updatedAt: start + minutes * 60_000,
        isPullRequest: pull,
        state: closed ? 'closed' : 'open',
      });
    const isMember = (number: number) => {
      const issue = world.tracker.issues.get(number);
      return (
        issue !== undefined &&
        !issue.isPullRequest &&
        issue.labels.includes('approved') &&
        (query.state === 'all' || issue.state === 'open')
      );
    };
    const members = [...world.tracker.issues.keys()].filter(isMember);
    const moved = new Set<number>();
    let page = 0;
    const found = await world.walk(query, () => {
      for (const one of steps[page] ?? []) {
        const number = apply(world, one);
        if (number !== undefined) moved.add(number);
        const issue = number === undefined ? undefined : world.tracker.issues.get(number);
        if (withEvents && issue) world.leads.applyEvent({ kind: 'issue', issue, isGone: false });
      }
      void world.clock.advance((steps[page]?.length ?? 1) * 4000);
      page += 1;
    });
    const ids = found.map((lead) => Number(lead.id));
    return { ids, stayed: members.filter((number) => !moved.has(number)) };
  };

  type Walked = Awaited<ReturnType<typeof play>>;

  const always = (query: { since?: number; state: 'open' | 'all' }, check: (_: Walked) => void) => {
    const limits = fc.integer({ min: 3, max: 60 });
    const holds = fc.asyncProperty(
      seeds,
      script,
      limits,
      fc.boolean(),
      async (rows, steps, limit, withEvents) =>
        check(await play(rows, steps, { ...query, limit }, withEvents)),
    );
    return fc.assert(holds, { numRuns: 60 });
  };

  test('skips and repeats nobody who stays, newest first', () =>
    always({ state: 'open' }, ({ ids, stayed }) => {
      expect(new Set(ids).size).toBe(ids.length);
      for (const number of stayed) expect(ids).toContain(number);
    }));

  test('skips nobody who stays, with since', () =>
    always({ state: 'all', since: Date.parse('2025-12-31') }, ({ ids, stayed }) => {
      for (const number of stayed) expect(ids).toContain(number);
    }));
});
