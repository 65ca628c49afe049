import { describe, expect, onTestFinished, test } from 'vitest';
import type { GrantInput } from '#access/grant.ts';
import { DAY } from '#shared/clock.ts';
import { origin } from '../../../access/support.ts';
import { openWorld } from '../../../support/world.ts';
import { petstore } from '../../../support/catalog.ts';

const spec = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {} };
const inCatalog: GrantInput[] = [{ action: 'catalog:read', workspace: 'default' }];
/** A client beside `tool`, who owns the artifact. */
const shop = { clientId: 'shop', subject: 'a-person' };

/** A catalog with version 1.0.0 of an artifact, PUBLISHED. */
async function setUp() {
  const { app, callCatalog: call, clock, access, catalog } = openWorld();
  onTestFinished(() => catalog.usage.close());
  await call('POST', '', { body: { ...petstore, spec } });
  await call('POST', '/petstore/publish');
  const consumer = async (name: string, grants: GrantInput[] = inCatalog) => {
    const made = await access.consumers.create({ name, grants, force: true }, origin);
    const headers = { 'x-api-key': made.issued.key.reveal() };
    const get = (url: string) => app.inject({ url, headers });
    return {
      id: made.consumer.id,
      read: (path = '/petstore') => get(`/api/v1/catalog${path}`),
      me: async () => (await get('/api/v1/me')).json(),
    };
  };
  const usage = async (query = '', as = {}) =>
    (await call('GET', `/petstore/usage${query}`, { as })).body;
  return { call, clock, consumer, usage };
}

type Counted = { readers: { id: string; reads: number }[] };
const countsOf = ({ items }: { items: Counted[] }) =>
  items.map(({ readers }) => readers.map(({ id, reads }) => `${id} ${reads}`));

describe('who reads which version', () => {
  test('is told by consumer and client, those who read last first, versions that nobody reads among them', async () => {
    const { call, clock, consumer, usage } = await setUp();
    const reader = await consumer('Sales');
    await reader.read();
    await reader.read('/petstore?version=1.0.0');
    await clock.advance(DAY);
    await call('GET', '/petstore', { as: shop });
    await call('POST', '', { body: petstore });
    await call('POST', '/petstore/deprecate?version=1.0.0&sunset=2026-04-01');
    expect(await usage()).toEqual({
      items: [
        { version: '1.1.0', lifecycle: 'DRAFT', readers: [] },
        {
          version: '1.0.0',
          lifecycle: 'DEPRECATED',
          sunsetAt: '2026-04-01T23:59:59Z',
          readers: [
            { kind: 'client', id: 'shop', lastReadAt: '2026-03-02T12:00:00Z', reads: 1 },
            { kind: 'consumer', id: reader.id, lastReadAt: '2026-03-01T12:00:00Z', reads: 2 },
          ],
        },
      ],
    });
    expect((await usage('?version=1.1.0')).items).toMatchObject([{ version: '1.1.0' }]);
    for (const path of ['/petstore/usage?version=9.9.9', '/nothing/usage'])
      expect((await call('GET', path)).body.code).toBe('artifact-not-found');
  });

  test.each([
    ['GET', '/petstore', {}, 200, 1],
    ['GET', '/petstore?version=1.0.0', {}, 200, 1],
    ['GET', '/PETSTORE', {}, 200, 1],
    ['GET', '/petstore/spec', {}, 200, 1],
    ['GET', '/petstore/spec', { accept: 'application/yaml' }, 200, 1],
    ['GET', '/petstore', { 'if-none-match': 'the tag' }, 304, 1],
    ['GET', '/petstore', { 'if-none-match': '*' }, 304, 1],
    ['GET', '/petstore/spec', { 'if-none-match': 'the tag' }, 304, 1],
    ['GET', '/petstore', { 'if-none-match': '"another"' }, 200, 1],
    ['HEAD', '/petstore', {}, 200, 0],
    ['GET', '', {}, 200, 0],
    ['GET', '?q=pet', {}, 200, 0],
    ['GET', '/petstore/versions', {}, 200, 0],
    ['GET', '/petstore/audit', {}, 200, 0],
    ['GET', '/petstore/usage', {}, 200, 0],
    ['GET', '/petstore/diff?from=1.0.0&to=1.0.0', {}, 200, 0],
    ['GET', '/petstore?version=9.9.9', {}, 404, 0],
  ] as const)(
    '%s %s with %j is answered %i and counts %i',
    async (...[method, path, given, status, reads]) => {
      const { call, usage } = await setUp();
      const headers: Record<string, string> = { ...given };
      if (headers['if-none-match'] === 'the tag')
        headers['if-none-match'] = String((await call('HEAD', path)).headers['etag']);
      expect((await call(method, path, { headers, as: shop })).status).toBe(status);
      expect(countsOf(await usage())).toEqual([reads === 0 ? [] : [`shop ${reads}`]]);
    },
  );

  test('is no person: a token counts by its client, and one that names none as unknown', async () => {
    const { call, usage } = await setUp();
    const people = [
      'ada@example.com',
      'ada%40example.com',
      'ada＠example.com',
      'Ada L',
      'Ada\u00A0L',
    ];
    const unreadable = ['x'.repeat(201), '\u001B[31mx', '\u202Eshop', 'a\0b'];
    for (const clientId of ['shop', undefined, ...people, ...unreadable])
      await call('GET', '/petstore', { as: { ...shop, clientId } });
    expect(countsOf(await usage())[0]?.toSorted()).toEqual(['shop 1', 'unknown 10']);
  });

  test('has the name of a consumer for operators and for the consumer itself alone', async () => {
    const { consumer, usage } = await setUp();
    const [sales, billing] = [await consumer('Sales'), await consumer('Billing')];
    await sales.read();
    await billing.read();
    const namesIn = ({ items: [item] }: { items: [{ readers: { name?: string }[] }] }) =>
      item.readers.flatMap(({ name }) => name ?? []).toSorted();
    expect(namesIn(await usage('', { scopes: ['catalog:read', 'trackport:admin'] }))).toEqual([
      'Billing',
      'Sales',
    ]);
    expect(namesIn(await usage())).toEqual([]);
    expect(namesIn((await sales.read('/petstore/usage')).json())).toEqual(['Sales']);
  });

  test('goes back 90 days, and is forgotten then', async () => {
    const { call, clock, usage } = await setUp();
    await call('GET', '/petstore', { as: shop });
    await clock.advance(89 * DAY);
    expect(countsOf(await usage())).toEqual([['shop 1']]);
    await clock.advance(DAY);
    expect(countsOf(await usage())).toEqual([[]]);
  });
});

describe('retire', () => {
  test('is refused while somebody read the version in the last 30 days, also a moment ago', async () => {
    const { call, clock, consumer } = await setUp();
    const reader = await consumer('Sales');
    await call('POST', '/petstore/deprecate');
    await reader.read();
    await call('GET', '/petstore', { as: shop });
    const refused = await call('POST', '/petstore/retire?version=1.0.0');
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      code: 'version-in-use',
      detail: expect.stringContaining('`early=true`'),
      errors: [{ parameter: 'early', code: 'required' }],
      current: 'DEPRECATED',
      allowed: ['deprecate', 'reinstate', 'edit'],
      readers: [reader.id, 'shop'].toSorted(),
    });
    await clock.advance(30 * DAY - 1);
    expect((await call('POST', '/petstore/retire')).status).toBe(409);
    await clock.advance(1);
    const retired = await call('POST', '/petstore/retire');
    expect(retired.body).toMatchObject({ lifecycle: 'RETIRED' });
    const { items } = (await call('GET', '/petstore/audit?limit=1')).body;
    expect(items[0].changes).toEqual({ lifecycle: 'RETIRED' });
  });

  test('is done all the same when it is told so, which the audit keeps', async () => {
    const { call } = await setUp();
    await call('POST', '/petstore/deprecate');
    await call('GET', '/petstore', { as: shop });
    expect((await call('POST', '/petstore/retire?early=true')).status).toBe(200);
    const { items } = (await call('GET', '/petstore/audit?limit=1')).body;
    expect(items[0].changes).toEqual({ lifecycle: 'RETIRED', early: true });
  });

  test('of a version that nobody reads takes no word, whoever reads another one', async () => {
    const { call } = await setUp();
    await call('POST', '/petstore/deprecate');
    await call('POST', '', { body: petstore });
    await call('POST', '/petstore/publish');
    await call('GET', '/petstore', { as: shop });
    expect((await call('POST', '/petstore/retire')).status).toBe(200);
  });
});

describe('GET /me of a reader', () => {
  test('names the deprecated versions that it read, the next sunset first', async () => {
    const { call, consumer } = await setUp();
    const [reader, other] = [await consumer('Sales'), await consumer('Billing')];
    for (const id of ['orders', 'stock']) {
      await call('POST', '', { body: { ...petstore, id } });
      await call('POST', `/${id}/publish`);
    }
    for (const path of ['/petstore', '/orders', '/stock/spec', '/stock']) await reader.read(path);
    expect((await reader.me()).deprecated).toEqual([]);
    await call('POST', '/petstore/deprecate?version=1.0.0');
    await call('POST', '/stock/deprecate?version=1.0.0&sunset=2026-04-01');
    expect((await reader.me()).deprecated).toEqual([
      { id: 'stock', version: '1.0.0', sunsetAt: '2026-04-01T23:59:59Z' },
      { id: 'petstore', version: '1.0.0' },
    ]);
    expect((await other.me()).deprecated).toEqual([]);
    await call('POST', '/petstore/retire?early=true');
    expect((await reader.me()).deprecated).toHaveLength(1);
  });

  test('says nothing of it to whoever may read no catalog, nor of another workspace', async () => {
    const { call, consumer } = await setUp();
    await call('POST', '/petstore/deprecate');
    const leads = await consumer('Leads', [{ action: 'leads:read' }]);
    expect(await leads.me()).not.toHaveProperty('deprecated');
    const elsewhere = await consumer('Other', [{ action: 'catalog:read', workspace: 'other' }]);
    expect((await elsewhere.me()).deprecated).toEqual([]);
  });
});
