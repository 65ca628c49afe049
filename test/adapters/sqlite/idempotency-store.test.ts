import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createIdempotencyStore } from '#adapters/sqlite/idempotency-store.ts';
import type { IdempotencyStore, KeyedRun } from '#catalog/idempotency.ts';
import { temporaryDatabase } from '../../support/stores.ts';

const run = (number: number, workspaceId = 'w'): KeyedRun => ({
  workspaceId,
  digest: Buffer.from(`${workspaceId} ${number}`),
  fingerprint: Buffer.from('same'),
  now: number,
  leaseUntil: number + 60_000,
});

const answer = (body = 'x') => ({ status: 200, headers: { etag: '"ä"' }, body });

async function keep(store: IdempotencyStore, one: KeyedRun, body?: string): Promise<void> {
  expect(await store.begin(one)).toEqual({ kind: 'first' });
  await store.keep(one, answer(body));
}

const stateOf = async (store: IdempotencyStore, one: KeyedRun): Promise<string> =>
  (await store.begin(one)).kind;

test('an answer comes back as it was kept, big ones compressed', async () => {
  const database = temporaryDatabase();
  const store = createIdempotencyStore(database);
  const body = 'größe '.repeat(100_000);
  await keep(store, run(1), body);
  expect(await store.begin(run(1))).toEqual({ kind: 'kept', answer: answer(body) });
  const bytes = database.handle.prepare('SELECT bytes FROM idempotency_key').pluck().get();
  expect(bytes).toBeLessThan(body.length / 50);
});

test('only the newest keys of a workspace are kept', async () => {
  const bounds = { keysMax: 3, bytesMax: 1_000_000, trimEvery: 1 };
  const store = createIdempotencyStore(temporaryDatabase(), bounds);
  await keep(store, run(0, 'other'));
  for (let number = 1; number <= 5; number += 1) await keep(store, run(number));
  const states = [];
  for (const number of [5, 4, 3, 2]) states.push(await stateOf(store, run(number)));
  expect(states).toEqual(['kept', 'kept', 'kept', 'first']);
  expect(await stateOf(store, run(0, 'other'))).toBe('kept');
});

test('only so many bytes of a workspace are kept', async () => {
  const bounds = { keysMax: 100, bytesMax: 3000, trimEvery: 1 };
  const store = createIdempotencyStore(temporaryDatabase(), bounds);
  for (let number = 1; number <= 4; number += 1)
    await keep(store, run(number), randomBytes(1000).toString('hex'));
  expect(await stateOf(store, run(4))).toBe('kept');
  expect(await stateOf(store, run(1))).toBe('first');
});

test('a call that outlived its lease does not touch its successor', async () => {
  const store = createIdempotencyStore(temporaryDatabase());
  const late = run(1);
  const next = { ...late, now: 60_001, leaseUntil: 120_001 };
  expect(await stateOf(store, late)).toBe('first');
  expect(await stateOf(store, next)).toBe('first');
  await store.keep(late, answer());
  await store.release(late);
  expect(await stateOf(store, { ...next, now: 60_002 })).toBe('running');
});
