import { beforeEach, describe, expect, test } from 'vitest';
import {
  acceptDelivery,
  type Delivery,
  type Intake,
  type NewReceipt,
} from '#partners/intake/accept-delivery.ts';
import { createPartner } from '#partners/partner.ts';
import { readDelivery } from '#partners/read-delivery.ts';
import { TrackportError } from '#shared/errors.ts';
import { isLoggableId } from '#shared/ids.ts';
import { directoryKey } from '../../support/directory.ts';
import { NOW } from '../support.ts';
import { secretsOf } from '../../support/partners.ts';

const crmOne = createPartner('crm-one', { scheme: 'hmac-sha256', secrets: secretsOf('one') });
const crmTwo = createPartner('crm-two', { scheme: 'signature-v3', secrets: secretsOf('two') });

let written: NewReceipt[];
let reports: Parameters<Intake['reporter']['settled']>[0][];
let woken: number;
let deps: Intake;

beforeEach(() => {
  written = [];
  reports = [];
  woken = 0;
  let ids = 0;
  deps = {
    writeReceipt: async (receipt) => {
      written.push(receipt);
      const queued = receipt.events.filter(({ outcome }) => outcome === 'PENDING').length;
      return {
        kind: 'accepted',
        receipt: { ...receipt, status: 'ACCEPTED' },
        queued,
        written: receipt.events,
      };
    },
    clock: { now: () => NOW },
    latestCreation: () => NOW + 1,
    newId: () => `id-${(ids += 1)}`,
    directoryKey,
    readDelivery,
    wakeWorker: () => void (woken += 1),
    reporter: { settled: (report) => void reports.push(report) },
  };
});

async function accept(body: unknown, facts: Partial<Delivery> = {}): Promise<NewReceipt> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  await acceptDelivery(deps, { partner: crmTwo, path: 'deletions', body: bytes, ...facts });
  return written.at(-1) as NewReceipt;
}

test('what cannot be read for now is not accepted', async () => {
  const failing = () => Promise.reject(new TrackportError('overloaded'));
  deps = { ...deps, readDelivery: failing };
  await expect(accept('{}')).rejects.toMatchObject({ code: 'overloaded' });
  expect(written).toEqual([]);
});

describe('the receipt', () => {
  test('tells the type and external id of a single event', async () => {
    const event = { subscriptionType: 'contact.deletion', objectId: 9007199254740993n };
    const body = `[{"subscriptionType":"contact.deletion","objectId":${event.objectId}}]`;
    expect(await accept(body)).toMatchObject({
      id: 'id-1',
      partnerId: 'crm-two',
      path: 'deletions',
      eventType: 'contact.deletion',
      externalId: '9007199254740993',
      receivedAt: NOW,
    });
  });

  test.each([
    ['deletions', '{}', 'lead.deletion'],
    ['events', '{}', 'partner.event'],
    ['deletions', '[]', 'lead.deletion'],
    ['events', '[]', 'partner.event'],
    ['deletions', '[1]', 'lead.deletion'],
    ['deletions', '[{"eventType":"a"},{"subscriptionType":"a"}]', 'a'],
    ['deletions', '[{"eventType":"a"},{"eventType":"b"}]', 'batch'],
    ['deletions', '[{"eventType":"a"},{}]', 'batch'],
    ['deletions', '{"eventType":"object.deletion","objectTypeId":"0-1"}', 'object.deletion'],
  ] as const)('on %s, %s is a %s', async (path, body, eventType) => {
    expect((await accept(body, { path })).eventType).toBe(eventType);
  });

  test('leaves the external id out for several events, even of one person', async () => {
    expect((await accept([{ objectId: 1 }, { objectId: 1 }])).externalId).toBeUndefined();
    expect(await accept([{ objectId: 1 }])).toHaveProperty('externalId', '1');
  });

  test.each([
    'ada@example.com',
    'Ada <ada@example.com>',
    'ada @ example.com',
    'ada＠example。com',
    'ada&#64;example.com',
    'ada&#x40;example',
    'ada%40example.com',
    'ada%2540example.com',
    'x'.repeat(256),
    'a\nb',
    '\ud800',
  ])('shows no identifier such as %j, which still names somebody', async (identifier) => {
    const receipt = await accept({ objectId: identifier, eventId: identifier });
    expect(receipt.externalId).toBeUndefined();
    expect(receipt.events[0]?.externalId).toBeUndefined();
    expect(receipt.events[0]?.eventId).toBeUndefined();
    expect(receipt.events[0]).toMatchObject({ outcome: 'PENDING', idKeys: {} });
  });

  test('shows no type that is an e-mail address', async () => {
    expect((await accept({ eventType: 'a@b.example' })).eventType).toBe('lead.deletion');
  });

  test.each(['a@', '@a', 'R&D', 'a\\b', 'ünïcode', 'a b'])('shows %j', async (eventId) => {
    expect((await accept({ objectId: 1, eventId })).events[0]?.eventId).toBe(eventId);
  });
});

describe('the events', () => {
  test('have an outcome each, and their own bytes', async () => {
    const { events } = await accept(
      ' [ {"objectId": 1} , 7, {"eventType":"deal.deletion"},{"objectId":{}} ] ',
    );
    expect(
      events.map(({ position, outcome, lastError, payload }) => [
        position,
        outcome,
        lastError,
        payload.toString(),
      ]),
    ).toEqual([
      [0, 'PENDING', undefined, '{"objectId": 1}'],
      [1, 'REJECTED', 'not-an-object', '7'],
      [2, 'IGNORED', undefined, '{"eventType":"deal.deletion"}'],
      [3, 'REJECTED', 'names-nobody', '{"objectId":{}}'],
    ]);
  });

  test('that are settled at once are reported once for each reason, after the commit', async () => {
    await accept([{ objectId: 1 }, 7, 8, { eventType: 'deal.deletion' }, { objectId: {} }]);
    const from = { partnerId: 'crm-two', path: 'deletions' };
    expect(reports).toMatchObject([
      { ...from, outcome: 'REJECTED', code: 'not-an-object', events: 2 },
      { ...from, outcome: 'IGNORED', code: undefined, events: 1 },
      { ...from, outcome: 'REJECTED', code: 'names-nobody', events: 1 },
    ]);
  });

  test('the same event alone and in a batch has the same key', async () => {
    const [alone] = (await accept('{"objectId":1}\n')).events;
    const [batched] = (await accept('[ {"objectId":1} ]')).events;
    expect(alone?.sameEventKey).toEqual(batched?.sameEventKey);
  });

  test('wake the worker after the commit, when one waits', async () => {
    await accept([{ objectId: 1 }, { objectId: 2 }]);
    expect(woken).toBe(1);
    await accept([{ eventType: 'deal.deletion' }]);
    expect(woken).toBe(1);
  });
});

describe('the correlation id', () => {
  test('is the header’s, else that of the only event, else new', async () => {
    const event = { externalId: 'x', correlationId: 'own' };
    const facts = { partner: crmOne };
    expect(await accept(event, { ...facts, correlationId: 'given' })).toMatchObject({
      correlationId: 'given',
    });
    expect(await accept(event, facts)).toMatchObject({ correlationId: 'own' });
    expect((await accept([event, event], facts)).correlationId).toMatch(/^id-/);
    expect((await accept({ ...event, correlationId: 'not visible' }, facts)).correlationId).toMatch(
      /^id-/,
    );
    expect((await accept({ ...event, correlationId: 'a@b.example' }, facts)).correlationId).toMatch(
      /^id-/,
    );
  });

  test.each([
    ['!', true],
    ['~'.repeat(128), true],
    ['', false],
    ['~'.repeat(129), false],
    [' ', false],
    ['a\u007f', false],
    ['ä', false],
    ['a\n', false],
    ['ada@example.com', false],
    ['ada&#64;example.com', false],
    ['ada&#064example.com', false],
    ['ada&#X40;example.com', false],
    ['ada&commat;example.com', false],
    ['ada&amp;#64;example.com', false],
    ['ada%40example.com', false],
    ['ada%2540example.com', false],
    [String.raw`ada\u0040example.com`, false],
    ['order%20640&b=40;64', true],
  ])('%j can be used: %s', (text, expected) => {
    expect(isLoggableId(text)).toBe(expected);
  });
});

describe('a body that is refused', () => {
  test.each([
    ['{', 'malformed-json'],
    ['', 'malformed-json'],
    ['"text"', 'validation-failed'],
    ['null', 'validation-failed'],
    [`[${'1,'.repeat(500)}1]`, 'payload-too-large'],
  ])('%#: %s', async (body, code) => {
    await expect(accept(body)).rejects.toMatchObject({ code });
    expect(written).toEqual([]);
  });

  test('of no store: the worker is not woken', async () => {
    deps.writeReceipt = () => Promise.reject(new Error('no commit'));
    await expect(accept({ objectId: 1 })).rejects.toThrow('no commit');
    expect(woken).toBe(0);
  });
});
