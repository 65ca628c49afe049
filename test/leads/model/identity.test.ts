import { describe, expect, test } from 'vitest';
import { correlationIdIn, emailsIn, externalIdIn, parseLeadId } from '#leads/model/identity.ts';

test.each([
  ['12', 12],
  ['#12', 12],
  [' #12\u200b', 12],
  ['999999999999999', 999_999_999_999_999],
  ['##12', undefined],
  ['# 12', 12],
  [' #\u00a012 ', 12],
  ['# 0', undefined],
  ['#12 13', undefined],
  ['12#', undefined],
  ['0', undefined],
  [`${' '.repeat(70)}12`, undefined],
])('the lead id %j is %j', (text, number) => {
  expect(parseLeadId(text)).toBe(number);
});

test('an e-mail value has an identity for each address in it', () => {
  expect(emailsIn('Ada@Example.com / bob@work.example')).toEqual([
    { kind: 'email', value: 'ada@example.com' },
    { kind: 'email', value: 'bob@work.example' },
  ]);
  expect(emailsIn('n/a')).toEqual([]);
});

const external = (text: string) => externalIdIn('crm', text)?.value;
const correlation = (text: string) => correlationIdIn(text)?.value;

test('other identities are compared without blanks around and invisible characters, in their case', () => {
  expect(external(' \u200bAb-1\ufeff ')).toBe('Ab-1');
  expect(correlation(' \u200bAb-1\ufeff ')).toBe('Ab-1');
});

const GUID = '0b9f6a1e-77d2-4c1b-9a55-0123456789ab';

test.each(['', ' \u200b', '\u0001'])('a text that nobody can see, %j, is none', (text) => {
  expect([external(text), correlation(text)]).toEqual([undefined, undefined]);
});

describe('a GUID is one', () => {
  test.each([GUID.toUpperCase(), `{${GUID}}`, ` {${GUID.toUpperCase()}}\u200b`])(
    'as %j',
    (written) => {
      expect(external(written)).toBe(GUID);
      expect(correlation(written)).toBe(GUID);
    },
  );

  test.each([`{${GUID}`, `${GUID}0`, GUID.replace('b', 'g'), `{${GUID}}}`])(
    'and %j is none',
    (id) => {
      expect(external(id)).toBe(id);
    },
  );
});

describe('a Salesforce id of 15 characters and the same of 18 are one', () => {
  test.each([
    ['001A0000006Vm9r', '001A0000006Vm9rIAC'],
    ['001A0000006Vm9u', '001A0000006Vm9uIAC'],
    ['00Q5g00000ABCde', '00Q5g00000ABCdeEAH'],
    ['000000000000000', '000000000000000AAA'],
    ['AAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAA555'],
  ])('%s', (short, long) => {
    expect(external(long)).toBe(short);
    expect(external(short)).toBe(short);
    expect(external(long.toLowerCase())).toBe(short);
    expect(external(long.toUpperCase())).toBe(short);
  });

  test.each([
    ['001A0000006Vm9r', '001a0000006Vm9r'],
    ['001A0000006Vm9rIAC', '001A0000006Vm9rIAD'],
    ['123456789012345678', '123456789012345'],
    ['123456789012345BAA', '123456789012345'],
    ['001A0000006Vm9rIA', '001A0000006Vm9r'],
  ])('%s is not %s', (left, right) => {
    expect(external(left)).not.toBe(external(right));
  });

  test('but only as an external id', () => {
    expect(correlation('001A0000006Vm9rIAC')).toBe('001A0000006Vm9rIAC');
  });
});
