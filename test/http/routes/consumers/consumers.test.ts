import { describe, expect, test } from 'vitest';
import { openWorld, type World } from '../../../support/world.ts';
import { PUBLIC_URL } from '../../../support/http/app.ts';
import { isKeyGood } from '../../../access/support.ts';

const HOUR = 3_600_000;
const START = '2026-03-01T12:00:00Z';

const create = async (
  { call }: World,
  body: object = { name: 'sales-tool' },
): Promise<{ id: string; key: string; keyId: string }> => {
  const reply = await call('POST', '/consumers', { body });
  expect(reply.status).toBe(201);
  const { id, key } = reply.body as { id: string; key: string };
  return { id, key, keyId: key.split('_')[1] ?? '' };
};

const isGood = ({ access }: World, key: string): Promise<boolean> => isKeyGood(access, key);

describe('POST /consumers', () => {
  test('creates a consumer and shows its key, once', async () => {
    const server = openWorld();
    const grants = [{ action: 'leads:read', labels: ['partner-program'] }];
    const body = { name: ' sales-tool ', grants, limitPerMinute: 60, expires: '30d' };
    const reply = await server.call('POST', '/consumers', { body });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.any(String),
      name: 'sales-tool',
      grants,
      key: expect.stringMatching(/^tpk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/),
    });
    const { id, key } = reply.body;
    expect(reply.headers['location']).toBe(`${PUBLIC_URL}/api/v1/consumers/${id}`);
    expect(reply.headers['cache-control']).toBe('no-store');
    const read = await server.call('GET', `/consumers/${id}`);
    expect(read.body).toEqual({
      id,
      name: 'sales-tool',
      state: 'active',
      limitPerMinute: 60,
      grants,
      keys: [
        {
          keyId: key.split('_')[1],
          last4: key.slice(-4),
          state: 'active',
          createdBy: 'operator-1',
          createdAt: START,
          expiresAt: '2026-03-31T12:00:00Z',
        },
      ],
      createdAt: START,
    });
    expect(await isGood(server, key)).toBe(true);
  });

  test('refuses a name that another consumer has, unless it is forced', async () => {
    const server = openWorld();
    const { id } = await create(server, { name: 'Straße é' });
    const refusal = {
      status: 400,
      code: 'validation-failed',
      errors: [{ pointer: '#/name', code: 'duplicate' }],
    };
    for (const name of ['Straße é', ' STRASSE E\u0301 ']) {
      const { body } = await server.call('POST', '/consumers', { body: { name } });
      expect(body).toMatchObject(refusal);
      expect(body.detail).toContain(id);
    }
    expect((await server.call('GET', '/consumers')).body.items).toHaveLength(1);
    await create(server, { name: 'straße é', force: true });
    const other = await create(server, { name: 'other' });
    const rename = (body: object) => server.call('PATCH', `/consumers/${other.id}`, { body });
    expect((await rename({ name: 'straße é' })).body).toMatchObject(refusal);
    expect((await rename({ name: 'OTHER' })).status).toBe(200);
    expect((await rename({ name: 'straße é', force: true })).body.name).toBe('straße é');
    expect((await rename({ force: true })).body.errors).toMatchObject([{ code: 'required' }]);
    const wrong = await server.call('POST', '/consumers', { body: { name: 'x', force: 'yes' } });
    expect(wrong.body.errors).toMatchObject([{ pointer: '#/force' }]);
  });

  test('takes the name of a consumer that is revoked, and not of one that is disabled', async () => {
    const server = openWorld();
    const { id } = await create(server);
    await server.call('PATCH', `/consumers/${id}`, { body: { state: 'disabled' } });
    const taken = await server.call('POST', '/consumers', { body: { name: 'sales-tool' } });
    expect(taken.status).toBe(400);
    await server.call('DELETE', `/consumers/${id}`);
    await create(server);
  });

  test.each<[string, unknown, object]>([
    ['no body', undefined, { pointer: '#', code: 'missing' }],
    ['a long name', { name: '😀'.repeat(201) }, { pointer: '#/name', code: 'out-of-range' }],
    ['a name with half a surrogate pair', { name: 'a\ud800' }, { pointer: '#/name' }],
    ['an unknown field', { name: 'a', scopes: [] }, { pointer: '#/scopes', code: 'unknown' }],
    [
      'grants that are no list',
      { name: 'a', grants: {} },
      { pointer: '#/grants', code: 'invalid' },
    ],
    ['an expiry in words', { name: 'a', expires: 'soon' }, { pointer: '#/expires' }],
  ])('refuses %s', async (_name, body, error) => {
    const { call } = openWorld();
    const reply = await call('POST', '/consumers', { body });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ code: 'validation-failed' });
    expect(reply.body.errors).toContainEqual(expect.objectContaining(error));
    expect((await call('GET', '/consumers')).body.items).toEqual([]);
  });

  test('takes a name and a label of the longest lengths, counted in characters', async () => {
    const server = openWorld();
    const long = '😀'.repeat(200);
    const grants = [{ action: 'leads:read', labels: [long] }];
    const { id } = await create(server, { name: long, grants });
    const { body } = await server.call('GET', `/consumers/${id}`);
    expect(body).toMatchObject({ name: long, grants });
  });

  test('names every mistake inside of its fields at once', async () => {
    const { call } = openWorld();
    const body = {
      name: '\u0007',
      limitPerMinute: 1.5,
      expires: '4000d',
      grants: [
        { action: 'leads:read', labels: ['a,b', ''] },
        { action: 'leads:read', lables: [] },
        { action: 'leads:write' },
        7,
      ],
    };
    const { errors } = (await call('POST', '/consumers', { body })).body as {
      errors: { pointer: string; code: string }[];
    };
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
      '#/expires invalid',
      '#/grants/0/labels/0 invalid',
      '#/grants/0/labels/1 out-of-range',
      '#/grants/1/action repeated-action',
      '#/grants/1/lables unknown',
      '#/grants/2/action unknown-action',
      '#/grants/3 invalid',
      '#/limitPerMinute invalid',
      '#/name invalid',
    ]);
  });
});

describe('GET /consumers', () => {
  test('refuses what it does not know', async () => {
    const { call } = openWorld();
    const { status, body } = await call('GET', '/consumers?limit=0&name=x&cursor=a&cursor=b');
    expect([status, body.code]).toEqual([400, 'validation-failed']);
    const named = body.errors.map(({ parameter }: { parameter: string }) => parameter);
    expect(named.toSorted()).toEqual(['cursor', 'limit', 'name']);
  });
});

describe('one consumer', () => {
  test.each([
    ['GET', '', undefined],
    ['PATCH', '', { name: 'b' }],
    ['DELETE', '', undefined],
    ['PUT', '/grants', { grants: [] }],
    ['POST', '/keys', {}],
    ['POST', '/keys/abcdefghijkl/rotate', {}],
    ['DELETE', '/keys/abcdefghijkl', undefined],
  ] as const)('%s %s of nobody is 404', async (method, path, body) => {
    const { call } = openWorld();
    const unknown = `/consumers/0b9f6a52-7f7e-4f0c-8f36-5d0f6c1a2b3c${path}`;
    const reply = await call(method, unknown, { body });
    expect([reply.status, reply.body.code]).toEqual([404, 'not-found']);
  });

  test('changes what is given and leaves the rest', async () => {
    const server = openWorld();
    const { id, key } = await create(server, { name: 'a', limitPerMinute: 10 });
    const patch = async (body: object) =>
      (await server.call('PATCH', `/consumers/${id}`, { body })).body;
    expect(await patch({ name: 'b' })).toMatchObject({ name: 'b', limitPerMinute: 10 });
    expect(await patch({ limitPerMinute: null })).not.toHaveProperty('limitPerMinute');
    expect(await patch({ state: 'disabled' })).toMatchObject({ name: 'b', state: 'disabled' });
    expect(await isGood(server, key)).toBe(false);
    expect(await patch({ state: 'active' })).toMatchObject({ state: 'active' });
    expect(await isGood(server, key)).toBe(true);
  });

  test.each<[object, string]>([
    [{}, '#'],
    [{ state: 'revoked' }, '#/state'],
    [{ name: null }, '#/name'],
  ])('refuses the change %j', async (body, pointer) => {
    const server = openWorld();
    const { id } = await create(server);
    const reply = await server.call('PATCH', `/consumers/${id}`, { body });
    expect(reply.status).toBe(400);
    expect(reply.body.errors).toContainEqual(expect.objectContaining({ pointer }));
  });

  test('is revoked for good, and twice is once', async () => {
    const server = openWorld();
    const { id, key } = await create(server);
    const first = await server.call('DELETE', `/consumers/${id}`);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ state: 'revoked', keys: [{ revokedAt: START }] });
    expect(await server.call('DELETE', `/consumers/${id}`)).toMatchObject({ body: first.body });
    expect(await isGood(server, key)).toBe(false);
    const reply = await server.call('POST', `/consumers/${id}/keys`, { body: {} });
    expect([reply.status, reply.body]).toMatchObject([
      409,
      { code: 'invalid-lifecycle-transition', current: 'revoked', allowed: [] },
    ]);
  });
});

describe('keys', () => {
  test('are added, with or without an expiry', async () => {
    const server = openWorld();
    const { id } = await create(server);
    const path = `/consumers/${id}/keys`;
    for (const body of [undefined, {}, { expires: '1h' }]) {
      const reply = await server.call('POST', path, { body });
      expect([reply.status, Object.keys(reply.body)]).toEqual([201, ['key']]);
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(await isGood(server, reply.body.key)).toBe(true);
    }
    const { keys } = (await server.call('GET', `/consumers/${id}`)).body;
    expect(keys.map(({ expiresAt }: { expiresAt?: string }) => expiresAt)).toEqual([
      undefined,
      undefined,
      undefined,
      '2026-03-01T13:00:00Z',
    ]);
    const wrong = await server.call('POST', path, { body: { expires: '1h', name: 'x' } });
    expect(wrong.body.errors).toMatchObject([{ pointer: '#/name', code: 'unknown' }]);
  });

  test('are rotated: the old one stays good for the overlap', async () => {
    const server = openWorld();
    const { id, key, keyId } = await create(server);
    const path = `/consumers/${id}/keys/${keyId}/rotate`;
    const reply = await server.call('POST', path, { body: { overlap: '1h' } });
    expect([reply.status, Object.keys(reply.body)]).toEqual([200, ['key']]);
    await server.clock.advance(HOUR);
    expect(await isGood(server, key)).toBe(false);
    expect(await isGood(server, reply.body.key)).toBe(true);
  });

  test.each<[object, string]>([
    [{ overlap: '31d' }, '#/overlap'],
    [{ overlap: 60 }, '#/overlap'],
    [{ Overlap: '1h' }, '#/Overlap'],
  ])('are not rotated with %j', async (body, pointer) => {
    const server = openWorld();
    const { id, keyId } = await create(server);
    const reply = await server.call('POST', `/consumers/${id}/keys/${keyId}/rotate`, { body });
    expect(reply.status).toBe(400);
    expect(reply.body.errors).toContainEqual(expect.objectContaining({ pointer }));
  });
});

describe('the audit log', () => {
  test('has every change with who and which request, and never a secret', async () => {
    const server = openWorld();
    const { id, key, keyId } = await create(server);
    const path = `/consumers/${id}`;
    const replies = [
      await server.call('PATCH', path, { body: { name: 'b' } }),
      await server.call('PUT', `${path}/grants`, { body: { grants: [{ action: 'leads:read' }] } }),
      await server.call('POST', `${path}/keys`),
      await server.call('POST', `${path}/keys/${keyId}/rotate`),
      await server.call('DELETE', `${path}/keys/${keyId}`),
      await server.call('DELETE', path),
    ];
    const entries = await server.auditOf(`consumer/${id}`);
    expect(entries.map(({ action }) => action)).toEqual([
      'consumer.create',
      'consumer.update',
      'consumer.grant',
      'key.create',
      'key.rotate',
      'key.revoke',
      'consumer.revoke',
    ]);
    for (const { actor } of entries)
      expect(actor).toEqual({ kind: 'token', subject: 'operator-1', clientId: 'console' });
    expect(entries.slice(1).map(({ requestId }) => requestId)).toEqual(
      replies.map(({ headers }) => headers['x-request-id']),
    );
    const secrets = [key, ...replies.map(({ body }) => body.key as unknown)].filter(
      (text) => typeof text === 'string',
    );
    expect(secrets).toHaveLength(3);
    for (const secret of secrets)
      expect(JSON.stringify(entries)).not.toContain(secret.split('_')[2]);
  });

  test('has nothing of a change that was refused', async () => {
    const server = openWorld();
    const { id } = await create(server);
    await server.call('PATCH', `/consumers/${id}`, { body: { name: '' } });
    await server.call('PATCH', `/consumers/${id}`, { body: { name: 'b' }, token: 'owner' });
    expect(await server.auditOf(`consumer/${id}`)).toHaveLength(1);
  });
});

test('a call that is sent again because its answer was lost is refused with the id to go on with', async () => {
  const { call } = openWorld();
  const sent = { body: { name: 'sales' }, headers: { 'idempotency-key': 'k' } };
  const { id } = (await call('POST', '/consumers', sent)).body;
  const again = await call('POST', '/consumers', sent);
  expect(again.status).toBe(400);
  expect(again.body.errors).toMatchObject([{ pointer: '#/name', code: 'duplicate' }]);
  expect(again.body.errors[0].detail).toContain(id);
  expect((await call('GET', '/consumers')).body.items).toHaveLength(1);
});
