import { describe, expect, test } from 'vitest';
import { emailsIn, type LeadIdentity } from '#leads/model/identity.ts';
import {
  correlationId as correlation,
  email,
  externalId as externalIdOf,
} from '../../support/identities.ts';
import { toDirectoryEntry, toHashedIdentity } from '#leads/directory/lead-directory.ts';
import { type Name, namesOf, type PartnerEvent } from '#partners/event.ts';
import { MINUTE } from '#shared/clock.ts';
import {
  type DirectoryView,
  leadsToClaim,
  matchLeads,
  toMatchNames,
} from '#leads/directory/match.ts';
import { directoryKey, leadRules, plainIssue } from '../../support/directory.ts';

const externalId = (value: string, partnerId = 'crm-one') => externalIdOf(partnerId, value);
const leadId = (number: number): Name => ({ kind: 'lead-id', number });

type Leads = Record<number, readonly LeadIdentity[]>;

type Options = {
  knowsKinds?: boolean;
  createdAt?: number;
  createdBefore?: number;
  receivedAt?: number;
};

function viewOf(leads: Leads, options: Options = {}): DirectoryView {
  const { knowsKinds = true, createdAt = 0 } = options;
  const rows = Object.entries(leads).map(([number, identities]) => ({
    number: Number(number),
    identities: identities.map((identity) => {
      const { kind, hash } = toHashedIdentity(directoryKey, identity);
      return { kind: knowsKinds ? kind : null, hash };
    }),
  }));
  const identitiesOf: DirectoryView['identitiesOf'] = (number) =>
    rows.find((row) => row.number === number)?.identities ?? [];
  return {
    has: (number) => rows.some((row) => row.number === number),
    createdAt: (number) => (rows.some((row) => row.number === number) ? createdAt : undefined),
    find: (hash) =>
      rows
        .filter(({ identities }) => identities.some((identity) => identity.hash.equals(hash)))
        .map(({ number }) => number),
    identitiesOf,
  };
}

function match(leads: Leads, names: readonly Name[], options?: Options) {
  const view = viewOf(leads, options);
  const { createdBefore = Infinity, receivedAt = createdBefore } = options ?? {};
  return matchLeads(toMatchNames(names, directoryKey), view, { createdBefore, receivedAt });
}

const ANY_TIME = { createdBefore: Infinity, receivedAt: Infinity };
const conflicts = [1];

const issue = plainIssue();

describe('the first name that has a lead decides', () => {
  const leads = {
    1: [email('1@example.com')],
    2: [correlation('c')],
    3: [externalId('x')],
    4: [email('4@example.com')],
    5: [email('4@example.com')],
  };
  const names = [leadId(9), correlation('c'), externalId('x'), email('4@example.com')];

  test.each([
    [[leadId(1)], { leads: [1], by: 'lead-id', conflicts: [] }],
    [names, { leads: [2], by: 'correlation-id', conflicts: [] }],
    [names.slice(2), { leads: [3], by: 'external-id', conflicts: [] }],
    [names.slice(3), { leads: [4, 5], by: 'email', conflicts: [] }],
    [[leadId(9), correlation('none')], { leads: [], conflicts: [] }],
    [[], { leads: [], conflicts: [] }],
  ])('%j', (asked, expected) => {
    expect(match(leads, asked)).toEqual(expected);
  });
});

describe('a lead that a lead id names', () => {
  const bob = [email('bob@example.com'), externalId('7'), externalId('9', 'crm-two')];
  const ada = [email('ada@example.com')];

  test.each([
    ['e-mail', email('ada@example.com')],
    ['external id', externalId('8')],
  ])('and that is known by another %s is left alone', (_what, person) => {
    expect(match({ 1: bob }, [leadId(1), person])).toEqual({ leads: [], conflicts });
  });

  test('and that belongs to another person gives way to the leads of the person', () => {
    expect(match({ 1: bob, 2: ada, 3: ada }, [leadId(1), ...ada])).toEqual({
      leads: [2, 3],
      by: 'email',
      conflicts,
    });
  });

  test.each([
    ['is known by the same e-mail', [email('BOB@example.com')]],
    ['shares one of two', [email('ada@example.com'), externalId('7')]],
    ['shares the other of two', [externalId('8'), email('bob@example.com')]],
    ['has nothing of that kind', [correlation('other')]],
  ])('and that %s is taken', (_what, person) => {
    expect(match({ 1: bob }, [leadId(1), ...person])).toEqual({
      leads: [1],
      by: 'lead-id',
      conflicts: [],
    });
  });

  test.each(['ada@gmail', 'bob@localhost'])(
    'is not judged by %j, an address that may be a slip, on either side',
    (weak) => {
      const taken = { leads: [1], by: 'lead-id', conflicts: [] };
      expect(match({ 1: bob }, [leadId(1), email(weak)])).toEqual(taken);
      expect(match({ 1: [email(weak)] }, [leadId(1), ...ada])).toEqual(taken);
      expect(match({ 1: [email(weak)] }, [leadId(1), email('eve@gmail')])).toEqual(taken);
      expect(match({ 1: [email(weak)] }, [email(weak)]).leads).toEqual([1]);
    },
  );

  test("is not judged by another partner's external id", () => {
    const leads = { 1: [externalId('9', 'crm-two')] };
    expect(match(leads, [leadId(1), externalId('8')])).toEqual({
      leads: [1],
      by: 'lead-id',
      conflicts: [],
    });
  });

  test('is taken when only one of several addresses is equal', () => {
    const leads = { 1: [email('old@example.com'), email('new@example.com')] };
    expect(match(leads, [leadId(1), email('new@example.com')])).toEqual({
      leads: [1],
      by: 'lead-id',
      conflicts: [],
    });
  });

  test('is taken when its identities were read by an older rule', () => {
    expect(match({ 1: bob }, [leadId(1), ...ada], { knowsKinds: false })).toEqual({
      leads: [1],
      by: 'lead-id',
      conflicts: [],
    });
  });
});

/** Some of the ways in which people write one person (all: `email-address.test.ts`), in the body of a lead and in an event. */
const all = [
  'ada@example.com',
  'ADA@Example.com!',
  'ada&#64;example.com',
  'mailto:ada@example.com?cc=eve@example.net',
  'Ada <ada@example.com> (private)',
  'ada@example.com/ada@work.example',
];

describe.each(all)('a person whose lead says %j', (written) => {
  const { identities } = toDirectoryEntry(
    { ...issue, body: `### Email\n\n${written}\n` },
    leadRules,
    directoryKey,
  );
  const view: DirectoryView = {
    has: (number) => number === 1,
    createdAt: () => 0,
    find: (hash) => (identities.some((identity) => identity.hash.equals(hash)) ? [1] : []),
    identitiesOf: () => identities,
  };
  const find = (event: PartnerEvent) =>
    matchLeads(toMatchNames(namesOf('crm-one', event), directoryKey), view, ANY_TIME);
  const type = { kind: 'none' } as const;

  test.each(all)('is found by %j, with the number of the lead as well', (text) => {
    expect(find({ type, emails: emailsIn(text) })).toEqual({
      leads: [1],
      by: 'email',
      conflicts: [],
    });
    expect(find({ type, emails: emailsIn(text), leadId: '1' })).toEqual({
      leads: [1],
      by: 'lead-id',
      conflicts: [],
    });
  });

  test.each(['eve@example.net', 'da@example.com', "'ada@example.com", 'ada@example.com.au'])(
    'is not %j',
    (text) => {
      expect(find({ type, emails: emailsIn(text) })).toEqual({ leads: [], conflicts: [] });
      expect(find({ type, emails: emailsIn(text), leadId: '1' })).toEqual({ leads: [], conflicts });
    },
  );

  test.each(['n/a', 'ada@-', 'eve@127.0.0.1', 'eve@example..net', '@example.net'])(
    'is not another person for the impossible address %j',
    (text) => {
      expect(find({ type, emails: emailsIn(text) }).leads).toEqual([]);
      expect(find({ type, emails: emailsIn(text), leadId: '1' }).leads).toEqual([1]);
    },
  );
});

test('each of several addresses of an event names somebody', () => {
  const leads = {
    1: [email('ada@example.com')],
    2: [email('bob@example.com')],
    3: [email('eve@x.example')],
  };
  const event = {
    type: { kind: 'none' },
    emails: emailsIn('bob@example.com/ada@example.com'),
  } as const;
  expect(match(leads, namesOf('crm-one', event))).toEqual({
    leads: [1, 2],
    by: 'email',
    conflicts: [],
  });
});

describe('a lead that was created after the event', () => {
  const lead = { 1: [email('ada@example.com'), correlation('c'), externalId('x')] };
  const BEFORE = 10;
  const find = (name: Name, createdAt: number) =>
    match(lead, [name], { createdAt, createdBefore: BEFORE });

  test.each([
    ['correlation id', correlation('c')],
    ['external id', externalId('x')],
    ['e-mail', email('ada@example.com')],
  ])('is another one: its %s does not take it', (_what, name) => {
    const { kind } = name;
    expect(find(name, BEFORE + 1)).toEqual({ leads: [], conflicts: [] });
    for (const createdAt of [BEFORE, 0])
      expect(find(name, createdAt)).toEqual({ leads: [1], by: kind, conflicts: [] });
  });

  test('got its number later: a lead id does not take it, but for a minute, since clocks differ', () => {
    expect(find(leadId(1), BEFORE + MINUTE + 1)).toEqual({ leads: [], conflicts });
    for (const createdAt of [BEFORE + MINUTE, 0])
      expect(find(leadId(1), createdAt)).toEqual({ leads: [1], by: 'lead-id', conflicts: [] });
  });
});

describe('a lead that a correlation id names', () => {
  test('is left alone when it belongs to another person, and others of that id are not', () => {
    const leads = {
      1: [correlation('c'), email('bob@example.com')],
      2: [correlation('c'), email('ada@example.com')],
    };
    expect(match(leads, [correlation('c'), email('ada@example.com')])).toEqual({
      leads: [2],
      by: 'correlation-id',
      conflicts,
    });
  });

  test('comes next when the lead id names somebody else', () => {
    const leads = { 1: [email('bob@example.com')], 2: [correlation('c')] };
    const names = [leadId(1), correlation('c'), email('ada@example.com')];
    expect(match(leads, names)).toEqual({ leads: [2], by: 'correlation-id', conflicts });
  });
});

describe('at its acceptance a deletion claims', () => {
  const ada = email('ada@example.com');
  const leads = { 1: [ada], 2: [ada], 3: [email('bob@example.com')] };

  test.each([
    ['what the first name finds', [ada], [1, 2]],
    ['the lead that a lead id names', [leadId(1), ada], [1]],
    ['nothing for names that nobody has', [email('eve@example.com')], []],
    ['a number that is not known yet, and what the other names find', [leadId(9), ada], [9, 1, 2]],
    ['a number that is not known yet, alone', [leadId(9)], [9]],
    ["the person's leads in place of another person's", [leadId(3), ada], [1, 2]],
    ['nothing of another person', [leadId(3), email('eve@example.com')], []],
  ])('%s', (_what, names, claimed) => {
    expect(leadsToClaim(toMatchNames(names, directoryKey), viewOf(leads), ANY_TIME)).toEqual(
      claimed,
    );
  });
});
