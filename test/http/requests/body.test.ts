import { expect, test, beforeAll } from 'vitest';
import { createBodyBudget, createBodyBytes, collectBytes } from '#http/requests/body.ts';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import nock from 'nock';
import { transferablesOf } from '#shared/bytes.ts';
import { openServer } from '../../support/http/local-server.ts';

const KIB = 1024;
const SMALL = 64 * KIB;

test('a body that stays small costs nothing, however little room there is', () => {
  const budget = createBodyBudget(0);
  expect(budget.hasRoomFor(SMALL)).toBe(true);
  expect(budget.hold().grow(SMALL)).toBe(true);
  expect(budget.heldBytes()).toBe(0);
});

test('a body that is no longer small counts with all of its bytes', () => {
  const budget = createBodyBudget(100 * KIB);
  const hold = budget.hold();
  hold.grow(SMALL);
  hold.grow(SMALL + 1);
  expect(budget.heldBytes()).toBe(SMALL + 1);
});

test('bodies share the room, and the one that finds none is let go as a whole', () => {
  const budget = createBodyBudget(200 * KIB);
  const [first, second] = [budget.hold(), budget.hold()];
  expect(first.grow(100 * KIB)).toBe(true);
  expect(second.grow(90 * KIB)).toBe(true);
  expect(second.grow(101 * KIB)).toBe(false);
  expect(budget.heldBytes()).toBe(100 * KIB);
});

test('whether there is room is known before a body comes', () => {
  const budget = createBodyBudget(200 * KIB);
  budget.hold().grow(100 * KIB);
  expect(budget.hasRoomFor(100 * KIB)).toBe(true);
  expect(budget.hasRoomFor(100 * KIB + 1)).toBe(false);
});

test('a released body gives its bytes back once', () => {
  const budget = createBodyBudget(200 * KIB);
  const hold = budget.hold();
  budget.hold().grow(70 * KIB);
  hold.grow(100 * KIB);
  hold.release();
  hold.release();
  expect(budget.heldBytes()).toBe(70 * KIB);
});

// It would stand between our client and our server.
beforeAll(() => nock.restore());

const MIB = 1024 * 1024;
const LIMIT = 6 * MIB;
const noise = randomBytes(LIMIT);

test('a body is what its chunks were, whatever their sizes', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: MIB }), { maxLength: 6 });
  fc.assert(
    fc.property(sizes, (sizes) => {
      const body = createBodyBytes(Readable.from([]), LIMIT);
      let end = 0;
      for (const size of sizes) body.add(noise.subarray(end, (end += size)));
      expect(body.take().equals(noise.subarray(0, end))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

/** Sends chunks over a connection; `work` gets the request that they make. */
async function send(chunks: Buffer[], work: (incoming: IncomingMessage) => Promise<void>) {
  const done = Promise.withResolvers<void>();
  const url = await openServer((incoming, response) => {
    done.resolve(work(incoming).finally(() => response.end()));
  });
  const call = request(url, { method: 'POST' });
  for (const chunk of chunks) call.write(chunk);
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  response.resume();
  await done.promise;
}

test.each([1, MIB, MIB + 1, 2 * MIB, LIMIT])('%i bytes come over a connection', async (size) => {
  const bytes = noise.subarray(0, size);
  await send([bytes.subarray(0, size >> 1), bytes.subarray(size >> 1)], async (incoming) => {
    const body = await collectBytes(incoming, LIMIT, () => undefined);
    expect(body.equals(bytes)).toBe(true);
  });
});

test('a large body has memory of its own, which goes back when it is refused', async () => {
  const chunks: Buffer[] = [];
  const body = createBodyBytes(Readable.from([]), LIMIT);
  body.add(noise.subarray(0, MIB + 7));
  const taken = body.take();
  expect(transferablesOf(taken)).toEqual([taken.buffer]);
  body.drop();
  expect(taken).toHaveLength(0);
  await send([noise.subarray(0, 2 * MIB)], async (incoming) => {
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    let bytes = 0;
    const refusal = new Error('too much');
    const collected = collectBytes(incoming, LIMIT, (more) => {
      bytes += more;
      return bytes > 1.5 * MIB ? refusal : undefined;
    });
    await expect(collected).rejects.toBe(refusal);
  });
  // The part that came until then was copied, and its own memory given back.
  expect(chunks.some((chunk) => chunk.length === 0)).toBe(true);
});

test('chunks that somebody else may have are left alone', () => {
  const chunk = Buffer.alloc(2 * MIB, 7);
  const body = createBodyBytes(Readable.from([]), LIMIT);
  body.add(chunk);
  expect(chunk).toHaveLength(2 * MIB);
  expect(body.take().equals(chunk)).toBe(true);
});
