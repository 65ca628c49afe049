import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addressesIn,
  normalizeEmail,
  normalizeIdentity,
  parseLeadId,
} from '#leads/model/identity.ts';

describe('an e-mail address', () => {
  test.each([
    ['case', 'Ada@Example.COM'],
    ['blanks around it', ' \t ada@example.com\u00a0\n'],
    ['angle brackets', '<ada@example.com>'],
    ['a display name', 'Ada Lovelace <ada@example.com>'],
    ['a display name in quotation marks', '"Lovelace, <A.>" <ada@example.com>'],
    ['a bracket that was left open', 'Ada <ada@example.com'],
    ['text behind the brackets', 'Ada <ada@example.com> (private)'],
    ['a zero-width space', 'a\u200bda@exam\u200dple.com\ufeff'],
    ['full stop behind it', 'ada@example.com.'],
    ['full stop of another script behind it', 'ada@example.com。'],
    ['comma behind it', 'ada@example.com ,'],
    ['blanks beside the @', 'ada @\u00a0example.com'],
    ['link', 'Mailto:ada@example.com'],
    ['a soft hyphen and marks of direction', '\u202aada@exam\u00adple.com\u202c'],
  ])('is the same whatever its %s', (_what, text) => {
    expect(normalizeEmail(text)).toBe('ada@example.com');
  });

  test.each([
    ['zoë@example.com', 'ZOE\u0308@example.com'],
    ['a@xn--mnchen-3ya.de', 'a@MÜNCHEN.de'],
    ['a@xn--r8jz45g.xn--zckzah', 'a@例え。テスト'],
    ['a@xn--strae-oqa.de', 'a@straße.de'],
    ['ὀδυσσευσ@example.com', 'ὈΔΥΣΣΕΥΣ@example.com'],
    ['ὀδυσσευσ@example.com', 'ὀδυσσευς@example.com'],
  ])('%s is also written %s', (normal, text) => {
    expect(normalizeEmail(text)).toBe(normal);
  });

  test.each([
    ['ı@example.com', 'i@example.com'],
    ['a.b@example.com', 'ab@example.com'],
    ['a+x@example.com', 'a@example.com'],
    ['a@example.com', 'a@example.com/b'],
    ['a@example.com', 'a@%65xample.com'],
    ['a.@example.com', 'a@example.com'],
    ['mailto@example.com', '@example.com'],
    ['a@127.1', 'a@127.0.0.1'],
    ['a@faß.de', 'a@fass.de'],
    ['a@ä/b', 'a@ä'],
  ])('%s is not %s', (left, right) => {
    expect(normalizeEmail(left)).not.toBe(normalizeEmail(right));
  });

  test('stays what it is when it is normalised again', () => {
    const part = fc.string({ unit: 'grapheme', maxLength: 20 });
    const text = fc
      .tuple(part, part, part)
      .map(([name, local, host]) => `${name}<${local}@${host}`);
    fc.assert(
      fc.property(text, (address) => {
        const once = normalizeEmail(address);
        expect(normalizeEmail(once)).toBe(once);
      }),
      {
        numRuns: 2000,
        examples: [['<\u003e\u0338@b.example'], ['mailto: mailto:a @ b. .'], ['a@。.']],
      },
    );
  });

  test('of more than 320 characters is none: it is not even looked at', () => {
    const long = `${'A'.repeat(310)}@Example.com`;
    expect(normalizeEmail(long)).toBe(long);
  });
});

test.each([
  ['ada@example.com', []],
  [' <Ada@Example.com> ', []],
  ['ada@example.com, ADA@Work.example', ['ada@example.com', 'ada@work.example']],
  ['ada@example.com (work)', ['ada@example.com']],
  ['private: ada@example.com; no calls', ['ada@example.com']],
  ["o'brien@example.com", []],
  ['a/b@example.com or {a|b}@example.com', ['a/b@example.com', '{a|b}@example.com']],
  ['ada＠example．com', ['ada@example.com']],
  ['ａｄａ＠ｅｘａｍｐｌｅ.com', ['ada@example.com']],
  ['ada\\_l@example.com', ['ada_l@example.com']],
  ['`ada@example.com`', ['ada@example.com']],
  ['mine is **ada@example.com**.', ['ada@example.com']],
  ['ada@example.com\\bob@work.example', ['ada@example.com', 'bob@work.example']],
  ['[Ada](mailto:ada@example.com)', ['ada@example.com']],
  ['ada&#64;example&#x2e;com or ada&commat;work.example', ['ada@example.com', 'ada@work.example']],
  ['*ada@example.com or ada@work.example*', ['ada@example.com', 'ada@work.example']],
  ['ada@example.com_, ada@work.example**', ['ada@example.com', 'ada@work.example']],
  ['n/a', []],
  ['a@b,'.repeat(79), ['a@b']],
  [`${'a'.repeat(310)} ada@example.com`, []],
])('beside itself, %j is known by %j', (text, others) => {
  expect(addressesIn(text)).toEqual([text, ...others]);
});

test.each([
  ['ada_.lovelace@example.com', 'ada.lovelace@example.com'],
  ['ada~.l, ada_.l@example.com', 'ada.l@example.com'],
  ['~ada@example.com', 'ada@example.com'],
  ['_ada@example.com, *bob@example.com', 'ada@example.com'],
  ['_ada@example.com, *bob@example.com', 'bob@example.com'],
  ['_ada@example.com*', 'ada@example.com'],
  ['`ada@example.com, ~bob@example.com~', 'ada@example.com'],
  ['\\*ada@example.com\\*', 'ada@example.com'],
  ['ada@example_.com', 'ada@example.com'],
  ['ada&ampl@example.com', 'ada&l@example.com'],
])('%j is not known by %j, whose address has none of these signs', (text, other) => {
  expect(addressesIn(text).map(normalizeEmail)).not.toContain(other);
});

test('an address of nothing but what addresses may hold is known by itself alone', () => {
  const sign = fc.constantFrom(..."ab.-_+*~`&%#$!'/=?^{|}".split(''));
  const local = fc
    .string({ unit: sign, minLength: 1, maxLength: 12 })
    .filter((one) => one.split('.').every((atom) => atom !== ''));
  fc.assert(
    fc.property(local, (name) => {
      const address = `${name}@ada-l.example`;
      expect(addressesIn(address)).toEqual([address]);
    }),
    { numRuns: 2000, examples: [['~a~.b'], ['a_.b'], ['*a*']] },
  );
});

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

test('other identities are compared without blanks around and invisible characters, in their case', () => {
  const value = ' \u200bAb-1\ufeff ';
  expect(normalizeIdentity({ kind: 'correlation-id', value })).toBe('Ab-1');
  expect(normalizeIdentity({ kind: 'external-id', partnerId: 'crm', value })).toBe('Ab-1');
});
