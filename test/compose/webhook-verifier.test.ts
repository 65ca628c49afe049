import { createHmac } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createWebhookVerifier } from '#adapters/github/webhook.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { createDeliveryVerifier } from '#compose/tracker.ts';
import { createFakeClock } from '../support/clock.ts';
import { startBodyThread } from '../support/threads.ts';
import { turnsDuring } from '../support/work/turns.ts';
import { wireIssue, wireRepository } from '../adapters/github/support.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const facts = {
  secrets: [new Secret('old'), new Secret('new')],
  name: { owner: 'acme', repo: 'leads' },
};
const verifier = createDeliveryVerifier(startBodyThread(createFakeClock()), facts);
const here = createWebhookVerifier(facts);

const repository = { ...wireRepository, id: 4711, owner: { login: 'acme' } };
const edited = { action: 'edited', issue: wireIssue, repository };

function sign(rawBody: Buffer, secret = 'new'): string {
  return `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
}

/** Made anew for each verification, which takes its bytes away. */
function delivery(text: string, secret?: string) {
  const rawBody = Buffer.from(text);
  return { event: 'issues', signature: sign(rawBody, secret), rawBody };
}

const from = (text: string): string =>
  JSON.stringify({ ...edited, changes: { body: { from: text } } });
const large = from('é'.repeat(150 * KIB));
const manyValues = JSON.stringify({ ...edited, x: Array.from({ length: 20_000 }, () => 1) });

describe.each([
  ['of more than 256 KiB', large],
  ['of more than 10,000 values', manyValues],
])('a delivery %s', (_what, text) => {
  test('is read in a thread, as it would be here, and its bytes are handed over', async () => {
    const given = delivery(text);
    const verified = await verifier.verify(given);
    expect(given.rawBody).toHaveLength(0);
    expect(verified).toEqual(await here.verify(delivery(text)));
    expect(verified).toMatchObject({ kind: 'issue', issue: { number: 7 } });
  });

  test('may be signed with each of the secrets, and with no other', async () => {
    expect(await verifier.verify(delivery(text, 'old'))).toMatchObject({ kind: 'issue' });
    await expect(verifier.verify(delivery(text, 'other'))).rejects.toMatchObject({
      code: 'unauthorized',
      challenge: 'Signature',
    });
  });

  test('is refused as it would be here when it is no JSON', async () => {
    await expect(verifier.verify(delivery(text.slice(0, -1)))).rejects.toMatchObject({
      code: 'malformed-json',
    });
  });
});

test('a small one keeps its bytes: it is read at once', async () => {
  const given = delivery(JSON.stringify(edited));
  expect(await verifier.verify(given)).toMatchObject({ kind: 'issue' });
  expect(given.rawBody.length).toBeGreaterThan(0);
});

test.each([
  ['genuine', from('x"'.repeat(11 * MIB)), 'new'],
  ['forged', from('x'.repeat(24 * MIB)), 'other'],
  [
    'of short numbers',
    JSON.stringify({ ...edited, x: Array.from({ length: 4 * MIB }, () => 1) }),
    'new',
  ],
])('others go on while one of many megabytes is verified: %s', async (_what, text, secret) => {
  const verified = verifier.verify(delivery(text, secret)).catch(() => undefined);
  expect(await turnsDuring(verified)).toBeGreaterThan(10);
});

test('a thread that comes to no end is told as an overload', async () => {
  const clock = createFakeClock();
  const slow = createDeliveryVerifier(startBodyThread(clock), facts);
  const verified = slow.verify(delivery(large)).catch((error: unknown) => error);
  await nextTurn();
  await clock.advance(5000);
  expect(await verified).toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
  expect(await slow.verify(delivery(large))).toMatchObject({ kind: 'issue' });
});
