/** Event ids that come again: with the same person a repeat, with another one another event. */
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { secretsOf } from '../../support/partners.ts';
import { connectTo, temporaryDatabase } from '../../support/stores.ts';
import { purgeReceipts } from '#partners/receipts/purge-receipts.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';
import { openWorld } from '../../support/world.ts';

const partners = {
  'crm-one': {
    scheme: 'hmac-sha256',
    secrets: secretsOf('one'),
    fields: { account: '/account' },
  },
  'crm-other': { scheme: 'hmac-sha256', secrets: secretsOf('two') },
} as const;

const person = { leadId: '24', externalId: 'x-24', correlationId: 'c-24', email: 'a@b.example' };
const event = {
  ...person,
  eventId: 'B1',
  eventType: 'gone',
  account: '7',
  occurredAt: '2026-01-01T00:00:00Z',
};

function setUp(database = temporaryDatabase()) {
  const { receipts: store, deliver } = openWorld({
    database,
    partners,
    clock: createFakeClock(1),
  });
  return {
    database,
    store,
    deliver,
    notesOf: async (id: string) =>
      (await readReceipt(store.db, id))?.events.map(({ note }) => note),
  };
}

describe('an event id that comes again with another person', () => {
  test('is another event in the same batch, and says so', async () => {
    const { deliver, notesOf, store } = setUp();
    const { receipt } = await deliver([
      { eventId: 'B1', leadId: '24' },
      { eventId: 'B1', leadId: '25' },
    ]);
    const read = await readReceipt(store.db, receipt.id);
    expect(read?.events.map(({ outcome }) => outcome)).toEqual(['PENDING', 'PENDING']);
    expect(await notesOf(receipt.id)).toEqual([undefined, 'event-id-reused']);
  });

  test.each([
    ['leadId', '25'],
    ['externalId', 'x-25'],
    ['correlationId', 'c-25'],
    ['email', 'c@d.example'],
  ])('is another event when only the %s differs', async (name, value) => {
    const { deliver, notesOf } = setUp();
    const first = await deliver(event);
    const second = await deliver({ ...event, [name]: value });
    expect(second).toMatchObject({ kind: 'accepted', queued: 1 });
    expect(await notesOf(second.receipt.id)).toEqual(['event-id-reused']);
    expect(await notesOf(first.receipt.id)).toEqual([undefined]);
    const { [name as keyof typeof event]: _left, ...without } = event;
    const third = await deliver(without);
    expect(third.kind).toBe('accepted');
    expect(await notesOf(third.receipt.id)).toEqual(['event-id-reused']);
  });

  test('is another event in each of 20 calls at once from two processes', async () => {
    const first = setUp();
    const second = setUp(connectTo(first.database.handle.name));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 === 0 ? first : second).deliver({ eventId: 'B1', leadId: 100 + at }),
      ),
    );
    expect(new Set(answers.map(({ receipt }) => receipt.id)).size).toBe(20);
    const notes = await Promise.all(answers.map(({ receipt }) => first.notesOf(receipt.id)));
    expect(notes.flat().filter((note) => note === 'event-id-reused')).toHaveLength(19);
  });

  test('comes again as a repeat of its own, and keeps its note', async () => {
    const { deliver, notesOf } = setUp();
    await deliver(event);
    const second = await deliver({ ...event, leadId: '25' });
    const again = await deliver({ ...event, leadId: '25' });
    expect([again.kind, again.receipt.id]).toEqual(['repeat', second.receipt.id]);
    expect(await notesOf(second.receipt.id)).toEqual(['event-id-reused']);
  });
});

test.each([
  ['the e-mail in another spelling', { email: 'Some One <A@B.example>' }],
  ['the lead id as people write it', { leadId: ' #24' }],
  ['white space around an id', { externalId: ' x-24 ', correlationId: 'c-24 ' }],
  ['another number of the attempt', { attemptNumber: 3 }],
])('the same person is a repeat with %s', async (_what, facts) => {
  const { deliver } = setUp();
  const { receipt } = await deliver(event);
  expect(await deliver({ ...event, ...facts })).toMatchObject({
    kind: 'repeat',
    receipt: { id: receipt.id },
  });
});

describe('no id is said to be reused', () => {
  test.each([
    ['with the same person at another time', { occurredAt: '2026-01-02T00:00:00Z' }, {}],
    ['of another account', { leadId: '25', account: '8' }, {}],
    ['of another type', { leadId: '25', eventType: 'erased' }, {}],
    ['of another partner', { leadId: '25' }, { from: 'crm-other' }],
    ['on the other path', { leadId: '25' }, { path: 'events' as const }],
  ])('%s', async (_what, facts, origin) => {
    const { deliver, notesOf } = setUp();
    await deliver(event);
    const second = await deliver({ ...event, ...facts }, origin);
    expect(second.kind).toBe('accepted');
    expect(await notesOf(second.receipt.id)).toEqual([undefined]);
  });

  test('once the first one is forgotten after its time', async () => {
    const { deliver, notesOf, store } = setUp();
    await deliver(event);
    await purgeReceipts(store.db, 2);
    const second = await deliver({ ...event, leadId: '25' });
    expect(await notesOf(second.receipt.id)).toEqual([undefined]);
  });

  test('without an event id', async () => {
    const { deliver, notesOf } = setUp();
    await deliver({ leadId: '24' });
    const second = await deliver({ leadId: '25' });
    expect(await notesOf(second.receipt.id)).toEqual([undefined]);
  });
});
