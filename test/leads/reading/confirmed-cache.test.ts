import { expect, test } from 'vitest';
import { createConfirmedCache } from '#leads/reading/confirmed-cache.ts';
import { createCallPolicy } from '#leads/reading/call-policy.ts';
import { TrackportError } from '#shared/errors.ts';
import { createFakeClock } from '../../support/clock.ts';

function createCache() {
  const clock = createFakeClock();
  const loads: string[] = [];
  const cache = createConfirmedCache<string>({
    clock,
    calls: createCallPolicy({ clock, quota: () => undefined }),
    freshForMs: 15_000,
    staleIfErrorMs: 0,
    bytesMax: 1_000_000,
    sizeOf: () => 1,
  });
  const read = (key: string) =>
    cache.get({
      key,
      load: () => {
        loads.push(key);
        return Promise.resolve({ value: key });
      },
      isLagging: () => false,
    });
  return { cache, loads, read };
}

test('an event asks only of entries that no earlier one has changed', async () => {
  const { cache, read } = createCache();
  for (const key of ['a', 'b', 'c']) await read(key);
  const asked: string[] = [];
  const invalidate = (...changed: string[]) =>
    cache.invalidate((value) => {
      asked.push(value);
      return changed.includes(value);
    });
  invalidate('a', 'b');
  invalidate();
  invalidate('c');
  invalidate('c');
  expect(asked.toSorted()).toEqual(['a', 'b', 'c', 'c', 'c']);
});

test('one entry can be changed by its key, and no other is', async () => {
  const { cache, loads, read } = createCache();
  for (const key of ['a', 'b']) await read(key);
  cache.invalidateKey('a');
  cache.invalidateKey('unknown');
  expect([cache.peek('a'), cache.peek('b')?.value]).toEqual([undefined, 'b']);
  for (const key of ['a', 'b']) await read(key);
  expect(loads).toEqual(['a', 'b', 'a']);
});

test('a load in flight of a key that changes is not trusted', async () => {
  const { cache, loads, read } = createCache();
  const early = read('a');
  const other = read('b');
  cache.invalidateKey('a');
  await Promise.all([early, other]);
  expect(cache.peek('a')).toBeUndefined();
  expect(cache.peek('b')?.value).toBe('b');
  await read('a');
  expect(loads).toEqual(['a', 'b', 'a']);
});

test('what was asked for since is trusted, cached or in flight', async () => {
  const { cache, clock, loads, read } = createSlowCache();
  const before = clock.monotonicMs();
  const flying = read();
  cache.invalidateKey('a', before);
  loads[0]?.resolve({ value: 'new' });
  await flying;
  cache.invalidateKey('a', before);
  cache.invalidate(() => true, before);
  expect(cache.peek('a')?.value).toBe('new');
  cache.invalidateKey('a', before + 1);
  expect(cache.peek('a')).toBeUndefined();
});

/** Loads end when they are told to, in any order. */
function createSlowCache() {
  const clock = createFakeClock();
  const loads: PromiseWithResolvers<{ value: string }>[] = [];
  const cache = createConfirmedCache<string>({
    clock,
    calls: createCallPolicy({ clock, quota: () => undefined }),
    freshForMs: 15_000,
    staleIfErrorMs: 60_000,
    bytesMax: 1_000_000,
    sizeOf: () => 1,
  });
  const read = (key = 'a') =>
    cache.get({
      key,
      load: () => {
        const load = Promise.withResolvers<{ value: string }>();
        loads.push(load);
        return load.promise;
      },
      isLagging: () => false,
    });
  return { cache, clock, loads, read };
}

test('reads of a key that comes share one load, its failure too', async () => {
  const { loads, read } = createSlowCache();
  const all = Promise.allSettled([read(), read(), read()]);
  loads[0]?.reject(new TrackportError('tracker-failed'));
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(loads).toHaveLength(1);
});

test('the response to an older request never replaces that to a newer one', async () => {
  const { cache, clock, loads, read } = createSlowCache();
  const early = read();
  cache.invalidateKey('a');
  await clock.advance(10);
  const late = read();
  loads[1]?.resolve({ value: 'new' });
  expect((await late).entry.value).toBe('new');
  loads[0]?.resolve({ value: 'old' });
  await early;
  expect(cache.peek('a')?.value).toBe('new');
});

test.each([
  ['fails', new TrackportError('tracker-unavailable'), 'stale'],
  ['talks nonsense', new TrackportError('tracker-failed'), 'stale'],
])(
  'while the tracker %s the last good value serves, for a while',
  async (_how, failure, outcome) => {
    const { clock, loads, read } = createSlowCache();
    const first = read();
    loads[0]?.resolve({ value: 'good' });
    await first;
    await clock.advance(15_000);
    const again = read();
    loads[1]?.reject(failure);
    expect(await again).toMatchObject({ outcome, entry: { value: 'good' } });
    await clock.advance(60_000);
    const tooLate = read();
    loads[2]?.reject(failure);
    await expect(tooLate).rejects.toBe(failure);
  },
);

test('a fault of our own is never hidden behind the last good value', async () => {
  const { clock, loads, read } = createSlowCache();
  const first = read();
  loads[0]?.resolve({ value: 'good' });
  await first;
  await clock.advance(15_000);
  const bug = new Error('a bug');
  const again = read();
  loads[1]?.reject(bug);
  await expect(again).rejects.toBe(bug);
});

test('nonsense for one key spares that key the next load, and no other', async () => {
  const { clock, loads, read } = createSlowCache();
  for (const key of ['a', 'b']) {
    const first = read(key);
    loads.at(-1)?.resolve({ value: key });
    await first;
  }
  await clock.advance(15_000);
  const again = read('a');
  loads.at(-1)?.reject(new TrackportError('tracker-failed'));
  await again;
  expect((await read('a')).outcome).toBe('stale');
  expect(loads).toHaveLength(3);
  const other = read('b');
  loads.at(-1)?.resolve({ value: 'b' });
  expect((await other).outcome).toBe('miss');
});
