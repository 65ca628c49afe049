import { describe, expect, test } from 'vitest';
import { openOperatorApp, type OperatorApp } from '../../../support/http/operator.ts';
import { dyingAfterCommit, temporaryDatabase } from '../../../support/stores.ts';

const withKey = (text: string) => ({ headers: { 'idempotency-key': text } });

type Shown = { id: string; keys: { keyId: string; state: string }[] };

async function consumers({ call }: OperatorApp): Promise<Shown[]> {
  return (await call('GET', '/consumers')).body.items;
}

async function countKeys(server: OperatorApp): Promise<number> {
  return (await consumers(server)).flatMap(({ keys }) => keys).length;
}

/** A consumer with one key, made without an idempotency key. */
async function create({ call }: OperatorApp): Promise<{ id: string; keyId: string }> {
  const { body } = await call('POST', '/consumers', { body: { name: 'first' } });
  return { id: body.id, keyId: body.key.split('_')[1] };
}

type Step = {
  name: string;
  status: number;
  prepare: (server: OperatorApp) => Promise<string>;
  body: object;
};

const steps: Step[] = [
  {
    name: 'creating a consumer',
    status: 201,
    prepare: async () => '/consumers',
    body: { name: 'sales' },
  },
  {
    name: 'adding a key',
    status: 201,
    prepare: async (server) => `/consumers/${(await create(server)).id}/keys`,
    body: { expires: '30d' },
  },
  {
    name: 'rotating a key',
    status: 200,
    prepare: async (server) => {
      const { id, keyId } = await create(server);
      return `/consumers/${id}/keys/${keyId}/rotate`;
    },
    body: { overlap: '1h' },
  },
];

describe.each(steps)('$name with an Idempotency-Key', ({ status, prepare, body }) => {
  test('is done once, and a repeat says that the key was shown and what to do', async () => {
    const server = openOperatorApp();
    const path = await prepare(server);
    const first = await server.call('POST', path, { body, ...withKey('k') });
    expect(first.status).toBe(status);
    const made = await consumers(server);
    const again = await server.call('POST', path, { body, ...withKey('k') });
    expect([again.status, again.body.code]).toEqual([409, 'idempotency-replayed-secret']);
    const keyId = first.body.key.split('_')[1];
    expect(again.body).toMatchObject({ consumerId: made[0]?.id, keyId });
    expect(again.body.detail).toContain('shown once');
    expect(again.body.detail).toContain(`/api/v1/consumers/${made[0]?.id}/keys/${keyId}/rotate`);
    expect(JSON.stringify(again)).not.toContain(first.body.key.split('_')[2]);
    expect(await consumers(server)).toEqual(made);
  });

  test('leaves no key in the store', async () => {
    const server = openOperatorApp();
    const path = await prepare(server);
    const { body: response } = await server.call('POST', path, { body, ...withKey('k') });
    const stored = server.database.handle.prepare('SELECT * FROM idempotency_key').all();
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(response.key.split('_')[2]);
    expect(server.database.handle.serialize().includes(response.key.split('_')[2])).toBe(false);
  });

  test('of two processes at once one is done and the other learns that it was', async () => {
    const database = temporaryDatabase();
    const there = openOperatorApp({ database });
    const path = await prepare(there);
    const keysBefore = await countKeys(there);
    let first: { status: number } | undefined;
    const meanwhile = async (): Promise<void> => {
      first = await there.call('POST', path, { body, ...withKey('k') });
    };
    const here = openOperatorApp({
      database,
      consumersOf: (store) => ({
        ...store,
        insert: async (...change) => meanwhile().then(() => store.insert(...change)),
        change: async (...change) => meanwhile().then(() => store.change(...change)),
      }),
    });
    const second = await here.call('POST', path, { body, ...withKey('k') });
    expect(first?.status).toBe(status);
    expect([second.status, second.body.code]).toEqual([409, 'idempotency-replayed-secret']);
    expect(await countKeys(here)).toBe(keysBefore + 1);
  });

  test('leaves what to do behind when the process dies after the commit', async () => {
    const database = temporaryDatabase();
    const path = await prepare(openOperatorApp({ database }));
    const dying = openOperatorApp({ database: dyingAfterCommit(database) });
    await dying.call('POST', path, { body, ...withKey('k') });
    const again = await openOperatorApp({ database }).call('POST', path, { body, ...withKey('k') });
    expect(again.body.code).toBe('idempotency-replayed-secret');
  });
});

test('what the detail says to do gives another key', async () => {
  const server = openOperatorApp();
  const { body: lost } = await server.call('POST', '/consumers', {
    body: { name: 'sales' },
    ...withKey('k'),
  });
  const again = await server.call('POST', '/consumers', {
    body: { name: 'sales' },
    ...withKey('k'),
  });
  const [, path = ''] = /`POST \/api\/v1(\S+)`/.exec(again.body.detail) ?? [];
  const rotated = await server.call('POST', path, { body: { overlap: '0s' }, ...withKey('k') });
  expect(rotated.status).toBe(200);
  const [consumer] = await consumers(server);
  expect(consumer?.id).toBe(lost.id);
  expect(consumer?.keys.map(({ state }) => state)).toEqual(['expired', 'active']);
});
