import { describe, expect, test } from 'vitest';
import type { CreateConsumerInput } from '#access/consumers/manage-consumers.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { fakeLeads } from '../../support/http/leads.ts';
import { openWorld } from '../../support/world.ts';

const ME = '/api/v1/me';
const origin = { actor: { kind: 'cli', subject: 'operator' } } as const;

/** The calls for a key's holder, on a store of their own. */
function openKeyApp({ limitPerMinute = 600 } = {}) {
  const { app, access, clock } = openWorld({
    access: { limitPerMinute: () => limitPerMinute },
    app: { leads: fakeLeads().leads },
  });
  const get = async (key: string, url = ME, headers: Record<string, string> = {}) => {
    const response = await app.inject({ url, headers: { 'x-api-key': key, ...headers } });
    const { statusCode: status, headers: given, body } = response;
    return { status, headers: given, body: body === '' ? undefined : JSON.parse(body) };
  };
  const create = async (input: Partial<CreateConsumerInput> = {}) => {
    const made = await access.consumers.create({ name: 'Sales', force: true, ...input }, origin);
    return { id: made.consumer.id, key: made.issued.key.reveal() };
  };
  return { app, clock, access, get, create };
}

const readLeads = { grants: [{ action: 'leads:read' }] };

describe('GET /me', () => {
  test('shows the holder of a key its consumer, grants, limit and expiry', async () => {
    const { get, create } = openKeyApp();
    const grants = [{ action: 'leads:read', labels: ['emea'] }];
    const { id, key } = await create({ grants, limitPerMinute: 60, expiresInMs: 90 * DAY });
    const response = await get(key);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      id,
      name: 'Sales',
      grants,
      limitPerMinute: 60,
      key: { keyId: key.split('_')[1], expiresAt: '2026-05-30T12:00:00Z' },
    });
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.headers['vary']).toContain('X-API-KEY');
  });

  test('shows the limit that holds where the consumer has none of its own', async () => {
    const { get, create } = openKeyApp({ limitPerMinute: 7 });
    const { key } = await create();
    const { body } = await get(key);
    expect(body).toMatchObject({ grants: [], limitPerMinute: 7 });
    expect(body.key).not.toHaveProperty('expiresAt');
  });

  test('knows a new name, limit and grant at once', async () => {
    const { get, create, access, clock } = openKeyApp();
    const { id, key } = await create();
    await get(key);
    await access.consumers.update({ id, patch: { name: 'CRM', limitPerMinute: 5 } }, origin);
    await clock.advance(10);
    expect((await get(key)).body).toMatchObject({ name: 'CRM', limitPerMinute: 5 });
  });

  test('is refused without a good key, as every request is', async () => {
    const { app, get } = openKeyApp();
    for (const response of [await get('tpk_bad'), await app.inject({ url: ME })]) {
      expect(response.headers['www-authenticate']).toBe('ApiKey');
      expect(JSON.stringify(response.body)).toContain('unauthorized');
    }
  });

  test('counts as a request', async () => {
    const { get, create } = openKeyApp();
    const { key } = await create({ limitPerMinute: 1 });
    const first = await get(key);
    expect(first.headers['ratelimit']).toBe('"default";r=0;t=60');
    expect((await get(key)).status).toBe(429);
  });

  test('takes no parameters', async () => {
    const { get, create } = openKeyApp();
    const { key } = await create();
    const response = await get(key, `${ME}?verbose=1`);
    expect([response.status, response.body.errors]).toMatchObject([
      400,
      [{ parameter: 'verbose' }],
    ]);
  });
});

describe('Key-Expires', () => {
  test('comes with every response to a key that expires within 30 days', async () => {
    const { get, create, clock } = openKeyApp();
    const { key } = await create({ ...readLeads, expiresInMs: 30 * DAY + 1 });
    const urls = [ME, '/api/v1/leads', '/api/v1/leads/7'];
    for (const url of urls) expect((await get(key, url)).headers).not.toHaveProperty('key-expires');
    await clock.advance(1);
    const wrong = ['/api/v1/leads?limit=0', `${ME}?x=1`];
    for (const url of [...urls, ...wrong])
      expect((await get(key, url)).headers['key-expires']).toBe('Tue, 31 Mar 2026 12:00:00 GMT');
  });

  test('comes with a 304, a 403 and a 429, too', async () => {
    const { get, create } = openKeyApp();
    const { key } = await create({ ...readLeads, limitPerMinute: 2, expiresInMs: HOUR });
    const { headers } = await get(key, '/api/v1/leads');
    const known = { 'if-none-match': String(headers['etag']) };
    const later = [
      await get(key, '/api/v1/leads', known),
      await get(key, '/api/v1/leads'),
      await get((await create({ expiresInMs: HOUR })).key, '/api/v1/leads'),
    ];
    expect(later.map(({ status }) => status)).toEqual([304, 429, 403]);
    for (const response of later) expect(response.headers).toHaveProperty('key-expires');
  });

  test('comes with the old key of a rotation, and not with the new one', async () => {
    const { get, create, access } = openKeyApp();
    const { id, key } = await create(readLeads);
    const { issued } = await access.keys.rotate({ id }, origin);
    expect((await get(key)).headers['key-expires']).toBe('Mon, 02 Mar 2026 12:00:00 GMT');
    expect((await get(issued.key.reveal())).headers).not.toHaveProperty('key-expires');
  });

  test('does not come with a key that never expires, nor with one that is not good', async () => {
    const { get, create, clock } = openKeyApp();
    const { key } = await create(readLeads);
    expect((await get(key, '/api/v1/leads')).headers).not.toHaveProperty('key-expires');
    const { key: short } = await create({ ...readLeads, expiresInMs: HOUR });
    await clock.advance(HOUR);
    const expired = await get(short, '/api/v1/leads');
    expect(expired.status).toBe(401);
    expect(expired.headers).not.toHaveProperty('key-expires');
  });
});
