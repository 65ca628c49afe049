import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { IdempotencyStore, KeyedCall } from '#shared/idempotency.ts';
import { HOUR } from '#shared/clock.ts';

/** A store of its own with these bounds. Everything is released when the running test ends. */
type Open = (bounds?: {
  keysMax: number;
  bytesMax: number;
  trimEveryKeys: number;
}) => Promise<IdempotencyStore>;

const call = (number: number, workspaceId = 'w'): KeyedCall => ({
  workspaceId,
  digest: Buffer.from(`${workspaceId} ${number}`),
  fingerprint: Buffer.from('same'),
  now: number,
});

const response = (body = 'x') => ({ status: 200, headers: { etag: '"ä"' }, body });

const put = (store: IdempotencyStore, one: KeyedCall, body?: string): Promise<void> =>
  store.put({ ...one, response: response(body) });

const stateOf = async (store: IdempotencyStore, one: KeyedCall): Promise<string> =>
  (await store.find(one)).kind;

/** One body for every engine: what `IdempotencyStore` promises. */
export function describeIdempotencyStore(engine: string, open: Open): void {
  describe(`idempotency store on ${engine}`, () => {
    test('a response comes back as it was stored', async () => {
      const store = await open();
      const body = 'größe '.repeat(100_000);
      expect(await store.find(call(1))).toEqual({ kind: 'nothing' });
      await put(store, call(1), body);
      expect(await store.find(call(1))).toEqual({ kind: 'stored', response: response(body) });
      const other = { ...call(1), fingerprint: Buffer.from('other') };
      expect(await store.find(other)).toEqual({ kind: 'mismatch' });
    });

    test('a key is taken once, and again when it has expired', async () => {
      const store = await open();
      await put(store, call(1));
      const taken = put(store, { ...call(1), now: 24 * HOUR + 1 }, 'y');
      await expect(taken).rejects.toMatchObject({ code: 'idempotency-in-progress' });
      expect(await store.find(call(1))).toEqual({ kind: 'stored', response: response() });
      const late = { ...call(1), now: 24 * HOUR + 2 };
      expect(await stateOf(store, late)).toBe('nothing');
      await put(store, late, 'y');
      expect(await store.find(late)).toEqual({ kind: 'stored', response: response('y') });
    });

    test('only the newest keys of a workspace are stored', async () => {
      const bounds = { keysMax: 3, bytesMax: 1_000_000, trimEveryKeys: 1 };
      const store = await open(bounds);
      await put(store, call(0, 'other'));
      for (let number = 1; number <= 5; number += 1) await put(store, call(number));
      const states = [];
      for (const number of [5, 4, 3, 2]) states.push(await stateOf(store, call(number)));
      expect(states).toEqual(['stored', 'stored', 'stored', 'nothing']);
      expect(await stateOf(store, call(0, 'other'))).toBe('stored');
    });

    test('only so many bytes of a workspace are stored', async () => {
      const bounds = { keysMax: 100, bytesMax: 5000, trimEveryKeys: 1 };
      const store = await open(bounds);
      for (let number = 1; number <= 4; number += 1)
        await put(store, call(number), randomBytes(1000).toString('hex'));
      expect(await stateOf(store, call(4))).toBe('stored');
      expect(await stateOf(store, call(1))).toBe('nothing');
    });
  });
}
