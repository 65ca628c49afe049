import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { createFakeClock } from '../../support/clock.ts';
import { turnsDuring } from '../../support/work/turns.ts';

const document = (facts: object): string =>
  JSON.stringify({ openapi: '3.0.0', info: { title: 'x', version: '1' }, paths: {}, ...facts });

/** Paths of which each has one finding. */
const wrongPaths = (count: number): object =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`/${at}`, { get: { responses: { 200: { a: 1 } } } }]),
  );

/** Valid, and takes the library minutes: each of them is compared with each. */
const slow = document({ tags: Array.from({ length: 60_000 }, (_, at) => ({ name: `tag-${at}` })) });

test('a big spec gets all of its findings, the first 100 and a count of the rest', async () => {
  const { checkSpec: check } = createSpecThreads({ clock: createFakeClock() });
  const some = await check(document({ paths: wrongPaths(20), 'x-long': 'x'.repeat(100_000) }));
  const pointers = new Set(some.map(({ pointer }) => pointer));
  expect(pointers).toEqual(
    new Set(Array.from({ length: 20 }, (_, at) => `#/spec/paths/~1${at}/get/responses/200`)),
  );
  const many = await check(document({ paths: wrongPaths(2000) }));
  expect(many).toHaveLength(101);
  expect(many.at(-1)).toMatchObject({ pointer: '#/spec', code: 'more' });
  expect(many.at(-1)?.detail).toMatch(/^\d+ more findings are not shown\.$/);
});

test('others go on while a big spec is validated', async () => {
  const { checkSpec: check } = createSpecThreads({ clock: createFakeClock() });
  const findings = check(document({ paths: wrongPaths(5000) }));
  expect(await turnsDuring(findings)).toBeGreaterThan(10);
  expect(await findings).toHaveLength(101);
});

test('a spec that takes too long is given up, and the next one is validated', async () => {
  const clock = createFakeClock();
  const { checkSpec: check } = createSpecThreads({ clock });
  await check(document({ paths: wrongPaths(5000) })); // the thread has started
  const [given, next] = [check(slow), check(document({ paths: wrongPaths(200) }))];
  await nextTurn();
  await clock.advance(5000);
  expect(await given).toEqual([expect.objectContaining({ pointer: '#/spec', code: 'too-costly' })]);
  expect(await next).toHaveLength(101);
});

test('so is one of AsyncAPI', async () => {
  const clock = createFakeClock();
  const tags = Array.from({ length: 60_000 }, (_, at) => ({ name: `tag-${at}` }));
  const info = { title: 'x', version: '1', tags };
  const { checkSpec: check } = createSpecThreads({ clock });
  await check('{"asyncapi":"4.0.0"}'); // the thread has started
  const given = check(JSON.stringify({ asyncapi: '3.0.0', info }));
  await nextTurn();
  await clock.advance(5000);
  expect(await given).toEqual([expect.objectContaining({ pointer: '#/spec', code: 'too-costly' })]);
});

test('a machine too busy to start the thread is told as such, not as a fault of the spec', async () => {
  const clock = createFakeClock();
  const { checkSpec: check } = createSpecThreads({ clock });
  const given = check(slow).catch((error: unknown) => error);
  await nextTurn();
  await clock.advance(5000);
  expect(await given).toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
  expect(await check(document({ paths: wrongPaths(200) }))).toHaveLength(101);
});

test('a start that takes nearly as long as it may takes nothing off the time for the spec', async () => {
  const clock = createFakeClock();
  const begun = Promise.withResolvers<void>();
  let limits = 0;
  const sleep: typeof clock.sleep = (ms, options) => {
    if (ms === 5000) limits += 1;
    if (limits === 2) begun.resolve(); // the first is that of the start
    return clock.sleep(ms, options);
  };
  const given = createSpecThreads({ clock: { ...clock, sleep } }).checkSpec(
    document({ paths: wrongPaths(5000) }),
  );
  await nextTurn();
  await clock.advance(4000);
  await begun.promise;
  await clock.advance(4000);
  expect(await given).toHaveLength(101);
});

test('only so many specs wait', async () => {
  const { checkSpec: check } = createSpecThreads({ clock: createFakeClock() });
  const text = document({});
  const waiting = Array.from({ length: 32 }, () => check(text));
  await expect(check(text)).rejects.toMatchObject({ code: 'overloaded' });
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => []));
  expect(await check(text)).toEqual([]);
});
