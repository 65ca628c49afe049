/** All that is kept of an event's bytes for its certificate: a digest, sealed, for as long as the receipt has an address. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDigest } from '#partners/receipts/receipt.ts';
import { purgeReceipts } from '#partners/receipts/purge-receipts.ts';
import { createFakeClock } from '../../support/clock.ts';
import { sealer } from '../../support/partners.ts';
import { openWorld } from '../../support/world.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function setUp() {
  const { database, deliver } = openWorld({ clock: createFakeClock(1) });
  const sealedOf = () =>
    database.all<{ position: number; digest?: Buffer }>(
      'SELECT position, digest FROM event ORDER BY id',
    );
  const purge = (before: number) => purgeReceipts(database, before);
  return { deliver, purge, sealedOf };
}

test.each([
  ['an object', '{"leadId":"24"}', ['{"leadId":"24"}']],
  ['an object with white space around it', ' {"leadId": "24"}\r\n', [' {"leadId": "24"}\r\n']],
  ['a byte order mark', '\uFEFF{"leadId":"24"}', ['\uFEFF{"leadId":"24"}']],
  ['a batch of one', '[ {"leadId":"24"} ]\n', ['{"leadId":"24"}']],
  ['a batch', ' [{"leadId":"24"} ,\n {"a": [1, 2]}, 7]', ['{"leadId":"24"}', '{"a": [1, 2]}', '7']],
])('the digest of %s is of its bytes as they stand in the body', async (_name, body, elements) => {
  const { deliver, sealedOf } = setUp();
  const { receipt } = await deliver(Buffer.from(body));
  const digests = (await sealedOf()).map(({ position, digest }) =>
    openDigest(sealer, { receiptId: receipt.id, position }, digest ?? Buffer.alloc(0)),
  );
  expect(digests.map((digest) => digest?.toString('hex'))).toEqual(elements.map(sha256));
});

test('a digest is not in the store as it is, and opens for its own event alone', async () => {
  const { deliver, sealedOf } = setUp();
  const { receipt } = await deliver('[{"leadId":"24"},{"leadId":"25"}]');
  const [first = { position: 0, digest: Buffer.alloc(0) }] = await sealedOf();
  const digest = first.digest ?? Buffer.alloc(0);
  expect(digest.toString('hex')).not.toContain(sha256('{"leadId":"24"}'));
  expect(openDigest(sealer, { receiptId: receipt.id, position: 1 }, digest)).toBeUndefined();
});

test('a repeat leaves the digest of the body that was accepted first', async () => {
  const { deliver, sealedOf } = setUp();
  await deliver('{"eventId":"1","leadId":"24"}');
  const before = await sealedOf();
  await deliver('{"leadId":"24","eventId":"1"} ');
  expect(await sealedOf()).toEqual(before);
});

test('a digest outlives its event and goes after 30 days with the address of the receipt', async () => {
  const { deliver, purge, sealedOf } = setUp();
  await deliver('{"eventType":"nothing","leadId":"24"}');
  await purge(1);
  expect(await sealedOf()).toMatchObject([{ digest: expect.any(Buffer) }]);
  await purge(2);
  expect((await sealedOf())[0]).not.toHaveProperty('digest');
});
