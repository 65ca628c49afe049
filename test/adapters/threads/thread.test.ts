import { execFile } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type * as bodyFunctions from '#compose/body-thread.ts';
import { createThread } from '#adapters/threads/thread.ts';
import { entryUrl } from '#shared/program.ts';
import { createFakeClock } from '../../support/clock.ts';
import { turnsDuring } from '../../support/work/turns.ts';
import type * as functions from './functions.ts';

const module = new URL('functions.ts', import.meta.url);
/** On a clock that stands still, a machine under load gives up no job for being slow. */
const open = (clock = createFakeClock()) => createThread<typeof functions>({ module, clock });

test('a job runs elsewhere, and its result comes back', async () => {
  const thread = open();
  expect(await thread.run('echo', { a: [1, 'x', null] })).toEqual({ a: [1, 'x', null] });
  const id = await thread.run('threadOf', undefined);
  expect(id).toBeGreaterThan(0);
  expect(await thread.run('threadOf', undefined)).toBe(id);
});

test('memory that is handed over is not copied', async () => {
  const bytes = Buffer.alloc(1000, 7);
  expect(await open().run('echo', bytes, { transfer: [bytes.buffer] })).toHaveLength(1000);
  expect(bytes).toHaveLength(0);
});

test('a refusal comes through with all that a caller is told', async () => {
  const readers = createThread<typeof bodyFunctions>({
    module: entryUrl('compose/body-thread'),
    clock: createFakeClock(),
  });
  const fields = { eventId: [], leadId: [], externalId: [], email: [] };
  const detail = 'The body must be an object or an array.';
  const refused = readers.run('delivery', { bytes: Buffer.from('7'), fields });
  await expect(refused).rejects.toMatchObject({
    code: 'validation-failed',
    detail,
    errors: [{ pointer: '#', code: 'type', detail }],
  });
});

test('a mistake of ours is told by its class alone, and leaves the thread as it is', async () => {
  const thread = open();
  const id = await thread.run('threadOf', undefined);
  const failure = await thread.run('fail', 'ada@example.com').catch((error: unknown) => error);
  expect(String(failure)).toBe('Error: a job failed in its thread: RangeError');
  expect(await thread.run('threadOf', undefined)).toBe(id);
});

test.each([
  ['crash', 'CRASHED'],
  ['throwLater', 'CRASHED'],
  ['eatMemory', 'OUT_OF_MEMORY'],
] as const)('after %s the next job gets another thread', async (name, code) => {
  const thread = open();
  const id = await thread.run('threadOf', undefined);
  const [broken, next] = [
    thread.run(name, undefined).catch((error: unknown) => error),
    thread.run('threadOf', undefined),
  ];
  expect(await broken).toMatchObject({ name: 'ThreadError', code });
  expect(await next).not.toBe(id);
});

test('a job that takes too long is given up, and the next one gets another thread', async () => {
  const clock = createFakeClock();
  const thread = open(clock);
  const id = await thread.run('threadOf', undefined);
  const [slow, next] = [
    thread.run('never', undefined).catch((error: unknown) => error),
    thread.run('threadOf', undefined),
  ];
  await nextTurn();
  await clock.advance(5000);
  expect(await slow).toMatchObject({ code: 'OUT_OF_TIME' });
  expect(await next).not.toBe(id);
});

test('what cannot be handed over is told, and the next job gets another thread', async () => {
  const thread = open();
  await expect(thread.run('echo', () => 1)).rejects.toMatchObject({ code: 'CRASHED' });
  expect(await thread.run('echo', 1)).toBe(1);
});

test('only so many jobs wait', async () => {
  const thread = open();
  const waiting = Array.from({ length: 32 }, (_, at) => thread.run('echo', at));
  await expect(thread.run('echo', 32)).rejects.toMatchObject({
    code: 'overloaded',
    detail: 'Too much large work waits for its turn: bodies or specs.',
    retryAfterSeconds: 5,
  });
  expect(await Promise.all(waiting)).toEqual(waiting.map((_, at) => at));
  expect(await thread.run('echo', 33)).toBe(33);
});

test('a job whose caller hangs up is never run, and its place is free at once', async () => {
  const thread = open();
  const running = thread.run('work', 300_000_000);
  const gone = new AbortController();
  const { signal } = gone;
  const dropped = Array.from({ length: 31 }, () =>
    thread.run('count', undefined, { signal }).catch((error: unknown) => error),
  );
  gone.abort();
  for (const error of await Promise.all(dropped))
    expect(error).toMatchObject({ code: 'bad-request', detail: 'The caller hung up.' });
  const others = Array.from({ length: 31 }, () => thread.run('count', undefined));
  expect(await Promise.all(others)).toEqual(others.map((_, at) => at + 1));
  await running;
});

test('a job whose caller has hung up already is not run', async () => {
  const thread = open();
  const gone = { signal: AbortSignal.abort() };
  await expect(thread.run('count', undefined, gone)).rejects.toMatchObject({ code: 'bad-request' });
  expect(await thread.run('count', undefined)).toBe(1);
});

test('a thread without jobs ends after a while, and one that got a job meanwhile does not', async () => {
  const clock = createFakeClock();
  const thread = open(clock);
  const id = await thread.run('threadOf', undefined);
  await clock.advance(29_000);
  expect(await thread.run('threadOf', undefined)).toBe(id);
  await clock.advance(29_000);
  expect(await thread.run('threadOf', undefined)).toBe(id);
  await clock.advance(30_000);
  expect(await thread.run('threadOf', undefined)).not.toBe(id);
});

test('jobs whose callers hang up one after the other do not end the thread under a later job', async () => {
  const clock = createFakeClock();
  const thread = open(clock);
  for (const name of ['work', 'echo'] as const) {
    const gone = new AbortController();
    const dropped = thread.run(name, 100_000_000, gone).catch((error: unknown) => error);
    await nextTurn();
    gone.abort();
    expect(await dropped).toMatchObject({ code: 'bad-request' });
  }
  const id = await thread.run('threadOf', undefined);
  await clock.advance(29_000);
  const working = thread.run('work', 100_000_000);
  await nextTurn();
  await clock.advance(1000);
  expect(await working).toBeGreaterThan(0);
  expect(await thread.run('threadOf', undefined)).toBe(id);
});

test('others go on while a thread works', async () => {
  expect(await turnsDuring(open().run('work', 100_000_000))).toBeGreaterThan(10);
});

test('a thread keeps the process neither from ending nor alive', async () => {
  const script = fileURLToPath(new URL('one-job.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 15_000 });
  expect(stdout).toBe('done\n');
});
