import { emailsIn } from '#leads/model/identity.ts';
import { email } from '../support/identities.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  actionsFor,
  decide,
  effectOfRepeat,
  eventKeys,
  isPrivacyDeletion,
  namesOf,
  type PartnerEvent,
  readEvent,
} from '#partners/event.ts';
import { createPartner, type Partner } from '#partners/partner.ts';
import { splitBatch, trimJson } from '#partners/read-delivery.ts';
import { outcomes } from '#partners/receipts/receipt.ts';
import { parseJsonText } from '#shared/text/json.ts';
import { directoryKey } from '../support/directory.ts';
import { secretsOf } from '../support/partners.ts';

const crmOne = createPartner('crm-one', { scheme: 'hmac-sha256', secrets: secretsOf('one') });
const crmTwo = createPartner('crm-two', { scheme: 'signature-v3', secrets: secretsOf('two') });

function read(partner: Partner, text: string): PartnerEvent | undefined {
  return readEvent(partner.fields, parseJsonText(Buffer.from(text)));
}

function outcomeOf(partner: Partner, text: string): string {
  const decision = decide(partner, 'deletions', read(partner, text));
  return decision.outcome === 'REJECTED' ? decision.reason : decision.outcome;
}

describe('reading an event', () => {
  test('each scheme has its own places for the fields', () => {
    expect(
      read(
        crmOne,
        '{"eventType":"lead.deletion","eventId":"e","externalId":"x","leadId":7,"email":"a@b.example","correlationId":"c","occurredAt":"t"}',
      ),
    ).toEqual({
      type: { kind: 'named', name: 'lead.deletion' },
      canonicalType: 'lead.deletion',
      eventId: 'e',
      externalId: 'x',
      leadId: '7',
      emails: [email('a@b.example')],
      correlationId: 'c',
      occurredAt: 't',
    });
    expect(
      read(
        crmTwo,
        '{"subscriptionType":"contact.deletion","eventId":1,"objectId":2,"portalId":3,"occurredAt":4,"email":"ignored"}',
      ),
    ).toEqual({
      type: { kind: 'named', name: 'contact.deletion' },
      canonicalType: 'contact.deletion',
      eventId: '1',
      externalId: '2',
      account: '3',
      occurredAt: '4',
    });
  });

  test('an e-mail address of more than 320 characters is none', () => {
    const eventOf = (length: number) =>
      JSON.stringify({ email: 'a@b.example'.padStart(length, 'a') });
    expect(read(crmOne, eventOf(320))).toHaveProperty('emails');
    expect(read(crmOne, eventOf(321))).not.toHaveProperty('emails');
    expect(outcomeOf(crmOne, eventOf(321))).toBe('names-nobody');
  });

  test.each(['', ' \t', '\u200b', '\u00ad \u2060'])('%j names nobody', (text) => {
    expect(read(crmOne, JSON.stringify({ leadId: '1', email: text, externalId: text }))).toEqual({
      type: { kind: 'none' },
      leadId: '1',
    });
    expect(outcomeOf(crmOne, JSON.stringify({ email: text }))).toBe('names-nobody');
  });

  test.each(['n/a', '-', '@', 'none@', '@example.com', '<>', 'unknown'])(
    'the e-mail %j is none, so that it does not delete all leads that say so',
    (text) => {
      expect(read(crmOne, JSON.stringify({ email: text }))).not.toHaveProperty('emails');
      expect(outcomeOf(crmOne, JSON.stringify({ email: text }))).toBe('names-nobody');
    },
  );

  test.each(['Ada <ada@example.com>', 'ada @ example.com', 'mailto:ada@example.com', 'ä@ö'])(
    'the e-mail %j may be somebody',
    (text) => expect(read(crmOne, JSON.stringify({ email: text }))?.emails).toEqual([email(text)]),
  );

  test('the first pointer that leads to text or a number wins', () => {
    expect(read(crmTwo, '{"subscriptionType":"a","eventType":"b"}')?.canonicalType).toBe('a');
    expect(read(crmTwo, '{"subscriptionType":null,"eventType":"b"}')?.canonicalType).toBe('b');
    expect(read(crmTwo, '{"eventType":"b"}')?.canonicalType).toBe('b');
  });

  test('a field that is set replaces that field’s default only', () => {
    const partner = createPartner('hub', {
      scheme: 'signature-v3',
      secrets: secretsOf('s'),
      fields: { email: '/properties/email~1address', externalId: ['/vid', '/objectId'] },
    });
    expect(read(partner, '{"properties":{"email/address":"a@b.example"},"objectId":1}')).toEqual({
      type: { kind: 'none' },
      emails: [email('a@b.example')],
      externalId: '1',
    });
  });

  test.each([
    ['9007199254740993', '9007199254740993'],
    ['"007"', '007'],
    ['7.0', '7'],
    ['1e21', '1000000000000000000000'],
    ['-0', '0'],
    ['1.5', '1.5'],
    ['" a "', ' a '],
    ['""', undefined],
    ['"  "', undefined],
    ['true', undefined],
    ['null', undefined],
    ['{}', undefined],
    ['["7"]', undefined],
    ['1e999', undefined],
  ])('an identifier %s is read as %j', (json, text) => {
    expect(read(crmTwo, `{"objectId":${json}}`)?.externalId).toBe(text);
  });

  test('a pointer never reaches a prototype', () => {
    const partner = createPartner('p', {
      scheme: 'hmac-sha256',
      secrets: secretsOf('s'),
      fields: { externalId: ['/constructor/name', '/toString', '/length'] },
    });
    expect(read(partner, '{"a":1}')?.externalId).toBeUndefined();
  });

  test.each(['[]', '"x"', '1', 'null', 'true'])('%s is no event', (text) => {
    expect(read(crmOne, text)).toBeUndefined();
  });
});

describe('deciding what becomes of an event', () => {
  test.each([
    ['contact.deletion', 'PENDING'],
    ['contact.privacyDeletion', 'PENDING'],
    ['contact.creation', 'IGNORED'],
    ['Contact.Deletion', 'IGNORED'],
    ['object.deletion', 'IGNORED'],
    ['*', 'IGNORED'],
  ])('type %s with the defaults of signature-v3: %s', (type, outcome) => {
    expect(outcomeOf(crmTwo, `{"subscriptionType":"${type}","objectId":1}`)).toBe(outcome);
  });

  test('an object deletion of a contact is a contact deletion, of anything else it is not', () => {
    const event = (more: string) => `{"subscriptionType":"object.deletion","objectId":1${more}}`;
    expect(outcomeOf(crmTwo, event(',"objectTypeId":"0-1"'))).toBe('PENDING');
    expect(outcomeOf(crmTwo, event(',"objectTypeId":"0-2"'))).toBe('IGNORED');
    expect(outcomeOf(crmTwo, event(''))).toBe('IGNORED');
    const read1 = read(crmTwo, event(',"objectTypeId":"0-1"'));
    expect(read1).toMatchObject({
      type: { kind: 'named', name: 'object.deletion' },
      canonicalType: 'contact.deletion',
    });
  });

  test('an event without a type is a deletion, one with an unreadable type is not', () => {
    expect(outcomeOf(crmTwo, '{"objectId":1}')).toBe('PENDING');
    expect(outcomeOf(crmTwo, '{"subscriptionType":"","objectId":1}')).toBe('PENDING');
    expect(outcomeOf(crmTwo, '{"subscriptionType":{},"objectId":1}')).toBe('IGNORED');
    expect(outcomeOf(crmOne, '{"eventType":[],"externalId":1}')).toBe('PENDING');
  });

  test('the type is checked before identity', () => {
    expect(outcomeOf(crmTwo, '{"subscriptionType":"deal.deletion"}')).toBe('IGNORED');
    expect(outcomeOf(crmTwo, '{"subscriptionType":"contact.deletion"}')).toBe('names-nobody');
    expect(outcomeOf(crmTwo, '{"subscriptionType":"contact.deletion","objectId":{}}')).toBe(
      'names-nobody',
    );
    expect(outcomeOf(crmOne, '{"email":["a@b.example"]}')).toBe('names-nobody');
    expect(outcomeOf(crmOne, '[]')).toBe('not-an-object');
  });

  test.each(['leadId', 'correlationId', 'externalId', 'email'])('%s names somebody', (field) => {
    expect(outcomeOf(crmOne, `{"${field}":"x@y"}`)).toBe('PENDING');
  });

  test('on the events path everything but a non-object is ignored', () => {
    expect(decide(crmOne, 'events', read(crmOne, '{"eventType":"lead.deletion"}'))).toEqual({
      outcome: 'IGNORED',
    });
    expect(decide(crmOne, 'events', undefined).outcome).toBe('REJECTED');
  });

  test('only a privacy deletion asks for erasure', () => {
    const isPrivacy = (type: string) =>
      isPrivacyDeletion(read(crmTwo, `{"subscriptionType":"${type}"}`) as PartnerEvent);
    expect(isPrivacy('contact.privacyDeletion')).toBe(true);
    expect(isPrivacy('contact.deletion')).toBe(false);
  });
});

describe('the same event', () => {
  const keyOf = (text: string, origin: Partial<{ partnerId: string; path: 'events' }> = {}) =>
    eventKeys(
      directoryKey,
      { partnerId: 'crm-two', path: 'deletions', ...origin },
      read(crmTwo, text),
      trimJson(Buffer.from(text)),
    ).sameEventKey.toString('hex');
  const event = {
    subscriptionType: 'contact.deletion',
    eventId: 1,
    objectId: 2,
    portalId: 3,
    occurredAt: 4,
    attemptNumber: 0,
    subscriptionId: 25,
  };
  const original = keyOf(JSON.stringify(event));

  test.each(['attemptNumber', 'subscriptionId', 'changeFlag'])(
    'is the same when only %s differs',
    (field) => {
      expect(keyOf(JSON.stringify({ ...event, [field]: 99 }))).toBe(original);
    },
  );

  test.each(['subscriptionType', 'eventId', 'objectId', 'portalId', 'occurredAt'])(
    'is another when %s differs or is missing',
    (field) => {
      const { [field as keyof typeof event]: _left, ...without } = event;
      expect(keyOf(JSON.stringify({ ...event, [field]: 99 }))).not.toBe(original);
      expect(keyOf(JSON.stringify(without))).not.toBe(original);
    },
  );

  test('is another on the other path and from another partner', () => {
    const text = JSON.stringify(event);
    expect(keyOf(text, { path: 'events' })).not.toBe(original);
    expect(keyOf(text, { partnerId: 'crm-one' })).not.toBe(original);
  });

  test('without an id is known by its bytes', () => {
    expect(keyOf('{"objectId":2}')).toBe(keyOf('{"objectId":2}'));
    expect(keyOf(' {"objectId":2}\n')).toBe(keyOf('{"objectId":2}'));
    expect(keyOf('{"objectId": 2}')).not.toBe(keyOf('{"objectId":2}'));
    expect(keyOf('{"objectId":2}', { path: 'events' })).not.toBe(keyOf('{"objectId":2}'));
    expect(keyOf('{"objectId":2,"eventId":{}}')).not.toBe(keyOf('{"objectId":2,"eventId":[]}'));
  });

  test('neighbouring fields cannot be shifted into each other', () => {
    const shifted = (objectId: string, eventId: string) =>
      keyOf(JSON.stringify({ ...event, objectId, eventId }));
    expect(shifted('1","2', '3')).not.toBe(shifted('1', '2","3'));
  });
});

describe('cutting a batch', () => {
  const cut = (text: string) => splitBatch(Buffer.from(text)).map(String);

  test('gives the elements that JSON.parse gives, however they are written', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 20 }), fc.nat(3), (values, indent) => {
        const elements = cut(JSON.stringify(values, null, indent)).map(
          (text) => JSON.parse(text) as unknown,
        );
        expect(elements).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });
});

const closing = createPartner('crm-two', {
  scheme: 'signature-v3',
  secrets: [],
  deletions: { actions: ['close'], privacy: ['redact'] },
});
const named = (facts: Partial<PartnerEvent>): PartnerEvent => ({
  type: { kind: 'none' },
  ...facts,
});

describe('the names of an event', () => {
  test('stand in the order of matching', () => {
    const event = named({
      emails: emailsIn('e@x.com; f@y.com'),
      externalId: 'x',
      correlationId: 'c',
      leadId: '12',
    });
    expect(namesOf('crm-two', event)).toEqual([
      { kind: 'lead-id', number: 12 },
      { kind: 'correlation-id', value: 'c' },
      { kind: 'external-id', partnerId: 'crm-two', value: 'x' },
      { kind: 'email', value: 'e@x.com' },
      { kind: 'email', value: 'f@y.com' },
    ]);
  });

  test.each(['0', '-1', '1.5', '1e3', '0x1', 'abc', '12 13', '9'.repeat(16), '१२'])(
    'leave out the lead id %j, which is no issue number',
    (leadId) => expect(namesOf('crm-two', named({ leadId }))).toEqual([]),
  );

  test.each(['#12', ' 12 ', '\u200b#12\n'])('take %j for lead 12', (leadId) => {
    expect(namesOf('crm-two', named({ leadId }))).toEqual([{ kind: 'lead-id', number: 12 }]);
  });
});

test('only a privacy deletion takes the privacy actions', () => {
  expect(actionsFor(closing, named({ canonicalType: 'contact.deletion' }))).toEqual(['close']);
  expect(actionsFor(closing, named({ canonicalType: 'contact.privacyDeletion' }))).toEqual([
    'redact',
  ]);
});

const idKeys = { id: Buffer.alloc(16, 1), person: Buffer.alloc(16, 2) };

test.each([
  ['PENDING', 'nothing', 'again'],
  ['DONE', 'nothing', 'queue'],
  ['UNMATCHED', 'queue', 'queue'],
  ['FAILED', 'queue', 'queue'],
] as const)(
  'a deletion that is %s: with an id its repeat does %s, without one %s',
  (before, withId, withoutId) => {
    expect(effectOfRepeat({ outcome: 'PENDING', idKeys }, before)).toBe(withId);
    expect(effectOfRepeat({ outcome: 'PENDING' }, before)).toBe(withoutId);
  },
);

test.each(['IGNORED', 'REJECTED'] as const)('a repeat that is %s sets nothing going', (outcome) => {
  for (const before of outcomes) {
    expect(effectOfRepeat({ outcome }, before)).toBe('nothing');
    expect(effectOfRepeat({ outcome, idKeys }, before)).toBe('nothing');
  }
});
