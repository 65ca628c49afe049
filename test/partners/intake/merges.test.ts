/** Merges of people on the partner's side: from the 202 on, a deletion by the id that is left finds all of them. */
import type { Database } from '#shared/database.ts';
import { describe, expect, test } from 'vitest';
import type { LeadIdentity } from '#leads/model/identity.ts';
import { externalId } from '../../support/identities.ts';
import type { PartnerSettings } from '#partners/partner.ts';
import { entry, openedDirectory } from '../../support/directory.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { openDeletions } from '../../support/deletions/world.ts';
import { secretsOf } from '../../support/partners.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';
import { putEntries } from '#leads/directory/write-directory.ts';
import { openWorld } from '../../support/world.ts';

const partners: Record<string, PartnerSettings> = {
  'crm-one': {
    scheme: 'hmac-sha256',
    secrets: secretsOf('s'),
    merges: { types: ['joined'], from: ['/old', '/older'], to: '/left' },
  },
  'crm-two': { scheme: 'signature-v3', secrets: secretsOf('s') },
};
const known = (value: string, partnerId = 'crm-two') => externalId(partnerId, value);
const merge = (from: unknown, to: unknown, facts: object = {}) => ({
  subscriptionType: 'contact.merge',
  mergedObjectIds: from,
  newObjectId: to,
  ...facts,
});
const deletion = (objectId: number, facts: object = {}) => ({
  subscriptionType: 'contact.privacyDeletion',
  objectId,
  ...facts,
});

const engines: [engine: string, open: () => Promise<Database>][] = [
  ['SQLite', async () => temporaryDatabase()],
  ['PostgreSQL', temporaryPostgres],
];

describe.each(engines)('a merge on %s', (_engine, open) => {
  async function setUp() {
    const database = await open();
    const directory = await openedDirectory(database);
    const { deliver, receipts, claims } = openWorld({ database, partners });
    return {
      deliver,
      put: (number: number, ...identities: LeadIdentity[]) =>
        putEntries(directory, [entry(number, { identities })]),
      send: async (body: unknown, { path = 'deletions', from = 'crm-two' } = {}) => {
        const { receipt } = await deliver(body, { from, path: path as 'deletions' });
        return (await readReceipt(receipts.db, receipt.id))?.events ?? [];
      },
      claimed: async () => {
        const view = await claims.current();
        return [1, 2, 3, 4, 5, 6].filter((number) => view.has(number));
      },
    };
  }

  test.each(['events', 'deletions'] as const)(
    'that comes to %s has a deletion by the id that is left claim all of them at once',
    async (path) => {
      const { send, put, claimed } = await setUp();
      await put(1, known('7001'));
      await put(2, known('7002'));
      await put(3, known('7003'));
      await put(4, known('7001', 'crm-one'));
      const [event] = await send(merge([7001], 7099, { primaryObjectId: 7002 }), { path });
      expect(event).toMatchObject({ outcome: 'DONE', note: 'merged', leadIds: [], attempts: 0 });
      expect(await claimed()).toEqual([]);
      const [deleted] = await send(deletion(7099));
      expect(deleted).toMatchObject({ outcome: 'PENDING', leadIds: ['1', '2'] });
      expect(await claimed()).toEqual([1, 2]);
    },
  );

  test('counts for leads that come later, and for one that is claimed already', async () => {
    const { send, put, claimed } = await setUp();
    await put(1, known('7001'));
    await send(deletion(7001));
    await send(merge([7001], 7099));
    await put(2, known('7001'));
    await put(3, known('7099'));
    const [event] = await send(deletion(7099));
    expect(event?.leadIds).toEqual(['1', '2', '3']);
    expect(await claimed()).toEqual([1, 2, 3]);
  });

  test.each([
    ['in their order', [merge(1, 2), merge([2], 3), merge(['3', 4], 5)]],
    ['the last first', [merge(['3', 4], 5), merge([2], 3), merge(1, 2)]],
    ['in a circle', [merge(1, 5), merge(5, 1), merge([1], 5), merge(5, 5)]],
  ])('holds with others %s, each in a delivery or all in one', async (_how, merges) => {
    for (const deliveries of [merges, [merges]]) {
      const { send, put, claimed } = await setUp();
      await put(1, known('1'));
      for (const body of deliveries) await send(body);
      await send(deletion(5));
      expect(await claimed()).toEqual([1]);
    }
  });

  test('counts for the deletions of its own batch', async () => {
    const { send, put, claimed } = await setUp();
    await put(1, known('7001'));
    await put(2, known('7002'));
    const events = await send([
      merge([7001], 7098),
      deletion(7098),
      merge(7002, 7099),
      deletion(7099),
      { subscriptionType: 'contact.creation', objectId: 7001 },
    ]);
    expect(events.map(({ outcome }) => outcome)).toEqual([
      'DONE',
      'PENDING',
      'DONE',
      'PENDING',
      'IGNORED',
    ]);
    expect(events.map(({ leadIds }) => leadIds.join())).toEqual(['', '1', '', '2', '']);
    expect(await claimed()).toEqual([1, 2]);
  });

  test('says that a lead with an old id is that person’s, whom a lead id names', async () => {
    const { send, put, claimed } = await setUp();
    await put(1, known('7001', 'crm-one'));
    await put(2, known('8000', 'crm-one'));
    const joined = { eventType: 'joined', older: [7001], left: '7099' };
    await send(joined, { from: 'crm-one' });
    await send({ leadId: 1, externalId: '7099' }, { from: 'crm-one' });
    await send({ leadId: 2, externalId: '7099' }, { from: 'crm-one' });
    expect(await claimed()).toEqual([1]);
  });

  test('that comes again is a repeat; with other ids under its event id it is another', async () => {
    const { send, put, claimed, deliver } = await setUp();
    await put(1, known('7001'));
    await put(2, known('7002'));
    const facts = { eventId: 9, portalId: 1, occurredAt: 1, objectId: 7099 };
    await send(merge([7001], 7099, facts));
    const again = await deliver(merge([7001], 7099, facts), { from: 'crm-two' });
    expect(again.kind).toBe('repeat');
    const [other] = await send(merge([7002], 7099, facts));
    expect(other).toMatchObject({ outcome: 'DONE', note: 'merged' });
    await send(deletion(7099));
    expect(await claimed()).toEqual([1, 2]);
  });

  test('that names no ids, or too many, is REJECTED, and changes nothing', async () => {
    const { send, put, claimed } = await setUp();
    await put(1, known('1'));
    const many = Array.from({ length: 251 }, (_, at) => at + 1);
    for (const [body, lastError] of [
      [merge([], 7099), 'names-nobody'],
      [merge([1], { id: 7099 }), 'names-nobody'],
      [merge([1], undefined, { objectId: 1 }), 'names-nobody'],
      [merge(many, 7099), 'too-many-ids'],
    ] as const)
      expect(await send(body)).toMatchObject([{ outcome: 'REJECTED', lastError }]);
    await send(deletion(7099));
    expect(await claimed()).toEqual([]);
  });
});

test('the worker finds who was merged after the deletion came', async () => {
  const world = await openDeletions();
  world.tracker.createIssue(leadIssue({ externalIds: { 'crm-two': '7001' } }));
  const deleted = await world.send(deletion(7099), 'crm-two');
  await world.send(merge([7001], 7099), 'crm-two');
  await world.start();
  const { events } = await world.settled(deleted);
  expect(events).toMatchObject([{ outcome: 'DONE', leadIds: ['1'] }]);
  expect(world.tracker.readIssue(1)?.state).toBe('closed');
});
