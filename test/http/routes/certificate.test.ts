/** The same address that tells what became of a delivery gives it as a certificate. */
import type { Settlement } from '#partners/worker/settle-event.ts';
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyCertificate } from '#adapters/jose/certificates.ts';
import type { CertificateClaims } from '#partners/receipts/certificate.ts';
import { SECOND } from '#shared/clock.ts';
import { buildPartnerServer, NOW, PARTNER_URL, signedHeaders } from '../../partners/support.ts';
import { type World } from '../../support/world.ts';
import { settleEvent } from '../../support/partners.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';

const PATH = '/api/v1/webhooks/partners/crm-one/deletions';
const JWT = { accept: 'application/jwt' };

let server: World;

beforeEach(() => {
  server = buildPartnerServer();
});

async function deliver(payload: string) {
  const headers = signedHeaders('crm-one', { body: payload });
  const reply = await server.app.inject({ method: 'POST', url: PATH, headers, payload });
  return {
    id: reply.json<{ id: string }>().id,
    url: String(reply.headers['location']).slice(PARTNER_URL.length),
  };
}

const get = (url: string, headers: Record<string, string> = JWT) =>
  server.app.inject({ url, headers });

/** Reads it once its signature was checked by the set that the service gives. */
async function claimsOf(url: string): Promise<CertificateClaims> {
  const reply = await get(url);
  expect(reply.headers['content-type']).toBe('application/jwt');
  const verdict = await verifyCertificate(reply.body, (await get('/.well-known/jwks.json')).json());
  if (!verdict.isGood) throw new Error(verdict.detail);
  return verdict.claims;
}

async function settle(end: Settlement): Promise<void> {
  const [item] = await leaseEvents(server.work, 'match', { now: server.clock.now(), limit: 1 });
  if (!item) throw new Error('nothing is due');
  await settleEvent(server.work, item, end, server.clock.now());
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('a certificate', () => {
  test('says of each event what is known, and nothing else', async () => {
    const first = '{"eventId":"e-1","eventType":"gone","leadId":"24"}';
    const { id, url } = await deliver(`[${first}, "nonsense"]`);
    await server.clock.advance(1500);
    await settle({
      outcome: 'DONE',
      erasure: 'incomplete-history',
      remains: ['history'],
      attempts: 1,
    });
    await server.clock.advance(250);
    expect(await claimsOf(url)).toEqual({
      iss: PARTNER_URL,
      iat: (NOW + 1750) / SECOND,
      jti: id,
      sub: 'crm-one',
      events: [
        {
          position: 0,
          eventType: 'gone',
          eventId: 'e-1',
          digest: sha256(first),
          receivedAt: '2026-09-21T14:13:22Z',
          claimedAt: '2026-09-21T14:13:22Z',
          outcome: 'DONE',
          erasure: 'incomplete-history',
          completedAt: '2026-09-21T14:13:23.500Z',
          remains: ['history'],
        },
        {
          position: 1,
          digest: sha256('"nonsense"'),
          receivedAt: '2026-09-21T14:13:22Z',
          outcome: 'REJECTED',
          completedAt: '2026-09-21T14:13:22Z',
        },
      ],
    });
  });

  test('of what is open says so, and when to ask again', async () => {
    const { url } = await deliver('{"leadId":"24"}');
    expect((await get(url)).headers).toMatchObject({ 'retry-after': '1' });
    const [event] = (await claimsOf(url)).events;
    expect(event).toMatchObject({ outcome: 'PENDING' });
    for (const name of ['completedAt', 'erasure', 'remains'])
      expect(event).not.toHaveProperty(name);
  });

  test('of an event that a late lead has opened again says nothing of what it had come to', async () => {
    const { url } = await deliver('{"leadId":"24"}');
    await settle({ outcome: 'DONE', erasure: 'complete', remains: ['sub-issues'], attempts: 1 });
    await server.database.exec(
      "UPDATE event SET outcome = 'PENDING', completed_at = NULL, due_at = asked_at",
    );
    const [event] = (await claimsOf(url)).events;
    expect(event).toMatchObject({ outcome: 'PENDING' });
    for (const name of ['completedAt', 'erasure', 'remains'])
      expect(event).not.toHaveProperty(name);
  });

  test('names what came before', async () => {
    const first = await deliver('{"eventId":"e-1","leadId":"24"}');
    const { url } = await deliver(
      '[{"eventId":"e-2","leadId":"25"},{"eventId":"e-1","leadId":"24"}]',
    );
    expect((await claimsOf(url)).repeats).toEqual([{ position: 1, receiptId: first.id }]);
  });

  test('has nothing of the person, and no number of an issue', async () => {
    const { url } = await deliver(
      '{"eventId":"ada@example.com","externalId":"x-4711","email":"ada@example.com","leadId":"4711"}',
    );
    // The receipt's own id is by chance: it may hold these letters.
    expect(JSON.stringify({ ...(await claimsOf(url)), jti: '' })).not.toMatch(/ada|4711/);
  });
});

describe('the address', () => {
  test.each([
    [{}, 'application/json; charset=utf-8'],
    [{ accept: '*/*' }, 'application/json; charset=utf-8'],
    [{ accept: 'application/jwt;q=0.5, application/json' }, 'application/json; charset=utf-8'],
    [{ accept: 'application/json;q=0.5, application/jwt' }, 'application/jwt'],
  ])('answers %j with %s', async (headers, type) => {
    const { url } = await deliver('{"leadId":"24"}');
    const reply = await get(url, headers);
    expect(reply.headers).toMatchObject({ 'content-type': type, vary: 'Accept' });
  });

  test('gives a certificate anew only when something is another since', async () => {
    const { url } = await deliver('{"leadId":"24"}');
    const etag = String((await get(url)).headers['etag']);
    expect(etag).toMatch(/^W\/"/);
    await server.clock.advance(5000);
    expect((await get(url, { ...JWT, 'if-none-match': etag })).statusCode).toBe(304);
    expect((await get(url, { 'if-none-match': etag })).statusCode).toBe(200);
    await settle({ outcome: 'DONE', attempts: 1 });
    expect((await get(url, { ...JWT, 'if-none-match': etag })).statusCode).toBe(200);
  });

  test('that is none is a problem, whatever is asked for', async () => {
    expect((await get('/api/v1/receipt-status/nonsense')).json()).toMatchObject({
      code: 'not-found',
    });
  });
});

test('the keys are there for everybody, also before one is used', async () => {
  const reply = await get('/.well-known/jwks.json', {});
  expect(reply.headers).toMatchObject({ 'cache-control': 'public, max-age=300' });
  expect(reply.json()).toEqual({
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        alg: 'EdDSA',
        use: 'sig',
        x: expect.stringMatching(/^[\w-]{43}$/),
        kid: expect.stringMatching(/^[\w-]{43}$/),
      },
    ],
  });
});
