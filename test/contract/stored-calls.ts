import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Database } from '#shared/database.ts';
import { findCall, type KeyedCall, putCall } from '#shared/idempotency.ts';
import { HOUR } from '#shared/clock.ts';

/** A store of its own. Everything is released when the running test ends. */
type Open = () => Promise<Database>;

const call = (number: number, workspaceId = 'w'): KeyedCall => ({
  workspaceId,
  digest: Buffer.from(`${workspaceId} ${number}`),
  fingerprint: Buffer.from('same'),
  now: number,
});

const response = (body = 'x') => ({ status: 200, headers: { etag: '"ä"' }, body });

type Put = { body?: string; bounds?: Parameters<typeof putCall>[2] };

const put = (db: Database, one: KeyedCall, { body, bounds }: Put = {}): Promise<void> =>
  db.transaction((tx) => putCall(tx, { ...one, response: response(body) }, bounds));

const stateOf = async (db: Database, one: KeyedCall): Promise<string> =>
  (await findCall(db, one)).kind;

/** One body for every engine: what is promised of responses that are stored for a key. */
export function describeStoredCalls(engine: string, open: Open): void {
  describe(`stored calls on ${engine}`, () => {
    test('a response comes back as it was stored', async () => {
      const db = await open();
      const body = 'größe '.repeat(100_000);
      expect(await findCall(db, call(1))).toEqual({ kind: 'nothing' });
      await put(db, call(1), { body });
      expect(await findCall(db, call(1))).toEqual({ kind: 'stored', response: response(body) });
      const other = { ...call(1), fingerprint: Buffer.from('other') };
      expect(await findCall(db, other)).toEqual({ kind: 'mismatch' });
    });

    test('a key is taken once, and again when it has expired', async () => {
      const db = await open();
      await put(db, call(1));
      const taken = put(db, { ...call(1), now: 24 * HOUR + 1 }, { body: 'y' });
      await expect(taken).rejects.toMatchObject({ code: 'idempotency-in-progress' });
      expect(await findCall(db, call(1))).toEqual({ kind: 'stored', response: response() });
      const late = { ...call(1), now: 24 * HOUR + 2 };
      expect(await stateOf(db, late)).toBe('nothing');
      await put(db, late, { body: 'y' });
      expect(await findCall(db, late)).toEqual({ kind: 'stored', response: response('y') });
    });

    test('only the newest keys of a workspace are stored', async () => {
      const bounds = { keysMax: 3, bytesMax: 1_000_000, trimEveryKeys: 1 };
      const db = await open();
      await put(db, call(0, 'other'), { bounds });
      for (let number = 1; number <= 5; number += 1) await put(db, call(number), { bounds });
      const states = [];
      for (const number of [5, 4, 3, 2]) states.push(await stateOf(db, call(number)));
      expect(states).toEqual(['stored', 'stored', 'stored', 'nothing']);
      expect(await stateOf(db, call(0, 'other'))).toBe('stored');
    });

    test('only so many bytes of a workspace are stored', async () => {
      const bounds = { keysMax: 100, bytesMax: 5000, trimEveryKeys: 1 };
      const db = await open();
      for (let number = 1; number <= 4; number += 1)
        await put(db, call(number), { body: randomBytes(1000).toString('hex'), bounds });
      expect(await stateOf(db, call(4))).toBe('stored');
      expect(await stateOf(db, call(1))).toBe('nothing');
    });
  });
}
