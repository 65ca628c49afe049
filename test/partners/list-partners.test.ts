import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createTraffic } from '#partners/traffic.ts';
import { DAY } from '#shared/clock.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../support/clock.ts';
import { temporaryDatabase } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

const OLD = 'the-old-secret-of-this-test';
const NEW = 'the-new-secret-of-this-test';

function setUp() {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const traffic = createTraffic({ database, clock, log: silentLog });
  const { partners } = openWorld({
    clock,
    database,
    traffic,
    partners: {
      'crm-one': {
        scheme: 'hmac-sha256',
        secrets: [
          { value: new Secret(OLD), notAfter: clock.now() + DAY },
          { value: new Secret(NEW) },
        ],
      },
      'crm-off': { scheme: 'signature-v3', secrets: [], enabled: false },
    },
  });
  return { clock, partners, traffic };
}

const body = Buffer.from('{}');

const signedBy = (secret: string) => ({
  partnerId: 'crm-one',
  method: 'POST',
  uri: 'https://trackport.example.com/',
  body,
  headerValues: (name: string) =>
    name === 'X-Partner-Signature'
      ? [`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`]
      : [],
});

const digest = (secret: string): string => sha256Hex(secret).slice(0, 8);

test('a partner that never called shows its secrets, and none of them can be read', async () => {
  const { clock, partners } = setUp();
  const [one, off] = await partners.list();
  expect(one).toEqual({
    id: 'crm-one',
    scheme: 'hmac-sha256',
    headers: { signature: 'X-Partner-Signature', timestamp: '', id: '' },
    enabled: true,
    requireBearer: false,
    secrets: [
      { digest: digest(OLD), status: 'active', notAfter: clock.now() + DAY },
      { digest: digest(NEW), status: 'active' },
    ],
    refusals: [],
  });
  expect(off).toMatchObject({ id: 'crm-off', enabled: false, secrets: [] });
});

test('the secret that verified a call is told from the other, and refusals are summed by reason', async () => {
  const { clock, partners, traffic } = setUp();
  expect(partners.verify(signedBy(NEW)).kind).toBe('verified');
  for (let call = 0; call < 3; call += 1) {
    const verdict = partners.verify(signedBy('another-secret'));
    if (verdict.kind !== 'refused' || !('partner' in verdict)) throw new Error('it was verified');
    partners.recordRefusal(verdict.partner, verdict.reason);
  }
  await traffic.flush();
  const lastAt = clock.now();
  const [one] = await partners.list();
  expect(one?.lastVerifiedAt).toBe(lastAt);
  expect(one?.secrets.map(({ lastVerifiedAt }) => lastVerifiedAt)).toEqual([undefined, lastAt]);
  expect(one?.refusals).toEqual([{ reason: 'signature-wrong', count: 3, lastAt }]);
});

test('a secret that has ended says so, and what is older than seven days is left out', async () => {
  const { clock, partners, traffic } = setUp();
  partners.verify(signedBy(OLD));
  await traffic.flush();
  await clock.advance(8 * DAY);
  const [one] = await partners.list();
  expect(one?.secrets[0]).toEqual({
    digest: digest(OLD),
    status: 'expired',
    notAfter: expect.any(Number),
  });
  expect(one?.lastVerifiedAt).toBeUndefined();
});
