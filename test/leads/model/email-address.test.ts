import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressesIn, provesPerson } from '#leads/model/email-address.ts';
import {
  GROWTH_TIMEOUT_MS,
  growthOf,
  LINEAR_GROWTH_MAX,
  repeated,
} from '../../support/work/growth.ts';
import { stepsOf } from '../../support/work/steps.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@work.example';

/** Each has a `¤` where an address is to stand. */
const waysToWriteOne: Readonly<Record<string, readonly string[]>> = {
  'blanks around it': [' \t¤\u00a0\n', '\u3000¤\u2003'],
  'a display name': ['Ada Lovelace <¤>', '"Lovelace, <A.>" <¤>', 'Ada <¤', 'Ada <¤> (private)'],
  'a display name that looks like an address': [`"${BOB}" <¤>`],
  'a mail link': ['mailto:¤', 'Mailto: ¤', 'mailto:mailto:¤', '<mailto:¤?subject=Hi%20there>'],
  'a query that names others': [`mailto:¤?cc=${BOB}`, `¤?bcc=${BOB},carl@work.example`],
  'a query without a scheme': ['¤?subject=', '¤?subject=Hi there'],
  'a link': ['[Ada](mailto:¤)', '<a href="mailto:¤">¤</a>'],
  'a sign behind it': ['¤!', '¤?', '¤…', '¤/', '¤.', '¤..', '¤ ,', '¤;', '¤:', '¤>', '¤)', '¤»'],
  'a sign that local parts may hold behind it': ['¤+', '¤-', '¤_', '¤*', '¤~', '¤#', '¤$', '¤%'],
  'a word behind a sign': ['¤/private', '¤-private', '¤!no', '¤:8080', "¤'s", '¤(work)', '¤#me'],
  'an emoji': ['¤😀', '📧¤', '✉️¤❤️', '👩‍💻¤'],
  'quotation marks': ['"¤"', "'¤'", '`¤`', '“¤”', '‘¤’', '„¤“', '‚¤‘', '«¤»', '‹¤›', '”¤”', '"¤'],
  'quotation marks of East Asia': ['「¤」', '『¤』', '〝¤〞', '＂¤＂', '＇¤＇', '｢¤｣'],
  brackets: ['(¤)', '[¤]', '{¤}', '<¤>', '<<¤>>', '([{¤}])', '"(¤)".'],
  'brackets of East Asia': ['（¤）', '【¤】', '〈¤〉', '《¤》', '〔¤〕', '＜¤＞', '［¤］', '｛¤｝'],
  Markdown: ['*¤*', '_¤_', '**¤**.', '~~¤~~', '|¤|', '***¤***', '`*¤*`', '\\*¤\\*'],
  'a label': [
    'E-Mail：¤',
    'mail=>¤',
    'Mail→¤',
    'Mail • ¤',
    '…¤',
    '...¤',
    '我的邮箱是¤。',
    'メール¤',
  ],
  'a word without a blank': ['¤请联系', '¤です', '¤입니다'],
  'zero-width signs': ['\ufeff¤', '\u200b¤\u200b!', '\u202a¤\u202c', '\u2066"¤"\u2069', '\u0007¤'],
  'references of HTML': [
    '&lt;¤&gt;',
    '&quot;¤&quot;',
    '¤&nbsp;',
    '&#60;¤&#x3E;',
    '&#8220;¤&#8221;',
  ],
};

describe('an address is the same with', () => {
  const ways = Object.entries(waysToWriteOne).flatMap(([kind, all]) =>
    all.map((way) => [kind, way] as const),
  );
  test.each(ways)('%s: %j', (_kind, way) => {
    expect(addressesIn(way.replaceAll('¤', ADA))).toEqual([ADA]);
  });
});

test.each([
  ['case', 'ADA@Example.COM'],
  ['zero-width signs in it', 'a\u200bda@exam\u200dple.c\u00adom'],
  ['blanks beside the @', 'ada @\u00a0example.com'],
  ['two @', 'ada@@example.com'],
  ['full width', 'ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ'],
  ['small forms', 'ada﹫example﹒com'],
  ['full stops of East Asia', 'ada@example。com。'],
  ['references of HTML', 'ada&#64;example&#x2e;com'],
  ['references of HTML by name', 'ada&commat;example&period;com'],
  ['references of HTML with zeros', 'ada&#0064;example.com'],
  ['escapes of Markdown', 'ada\\@example\\.com'],
  ['quotation marks around its local part', '"ada"@example.com'],
])('an address is the same with other %s', (_what, text) => {
  expect(addressesIn(text)).toEqual([ADA]);
});

test.each([
  ["o'brien@example.com", 'o’brien@example.com'],
  ["o'brien@example.com", 'oʼbrien@example.com'],
  ["o'brien@example.com", '‘o’brien@example.com’'],
  ["o'brien@example.com", "'o'brien@example.com'"],
  ['anna-lena@my-shop.example', 'anna‑lena@my‐shop.example'],
  ['ada_l@example.com', 'ada\\_l@example.com'],
  ['zoë@example.com', 'ZOE\u0308@example.com'],
  ['ὀδυσσευσ@example.com', 'ὈΔΥΣΣΕΥΣ@example.com'],
  ['ὀδυσσευσ@example.com', 'ὀδυσσευς@example.com'],
  ['a@xn--mnchen-3ya.de', 'a@MÜNCHEN.de'],
  ['a@xn--r8jz45g.xn--zckzah', 'a@例え。テスト'],
  ['a@xn--r8jz45g.xn--zckzah', '「A@例え．テスト」'],
  ['a@xn--strae-oqa.de', 'a@straße.de'],
  ['a@xn--parallel-koa.cat', 'a@paral·lel.cat'],
  ['用户@xn--fsqu00a.xn--4rr70v', '用户@例子.广告'],
])('%s is also written %s', (address, text) => {
  expect(addressesIn(text)).toEqual([address]);
  expect(addressesIn(address)).toEqual([address]);
});

const joints = [
  ...Array.from('/|&+、،,;，；؛:：·•・\\_-–—.。…→=#*~^%!?$😀\n\t '),
  ...'(),{},“”,>/<,)/(,"/",//,&amp;,&#44;,<br>, or , und , / , /,/ , & , |,+ ,または,和,와, <,> <'.split(
    ',',
  ),
  ', ',
];

test.each(joints)('two addresses count each, joined by %j', (joint) => {
  expect(addressesIn(ADA + joint + BOB)).toEqual([ADA, BOB]);
  expect(addressesIn(`(${ADA}${joint}${BOB})`)).toEqual([ADA, BOB]);
});

test.each([
  ['ada@example.com/bob@work.example/carl@example.net', [ADA, BOB, 'carl@example.net']],
  ["'ada@example.com', 'bob@work.example'", [ADA, BOB]],
  ['*ada@example.com or bob@work.example*', [ADA, BOB]],
  ['{ada@example.com, bob@work.example}', [ADA, BOB]],
  ['ada@example.com, ADA@Example.com', [ADA]],
  ['private: ada@example.com; no calls', [ADA]],
  ['a/b@example.com or {a|b}@example.com', ['a/b@example.com', '{a|b}@example.com']],
  ['ada@127.0.0.1/bob@work.example', [BOB]],
  ['ada@example..com, bob@work.example', [BOB]],
  ['a@b.cd,'.repeat(45), ['a@b.cd']],
])('%j has %j', (text, addresses) => {
  expect(addressesIn(text)).toEqual(addresses);
});

/** Characters of a local part (RFC 5322 section 3.2.3). */
const legal =
  "o'brien +tag a+tag a/b /ada 'ada `ada {ada *ada _ada ~ada |ada ada_.l =ada #ada !ada ?ada $ada %ada &ada ^ada -ada a..b ada. !#$%&'*+-/=?^_`{|}~".split(
    ' ',
  );

describe('signs that a local part may hold stay', () => {
  test.each(legal)('%s', (local) => {
    const address = `${local}@example.com`;
    expect(addressesIn(address)).toEqual([address]);
    expect(addressesIn(`<${address}>!`)).toEqual([address]);
    expect(addressesIn(`${BOB}, ${address}`)).toEqual([BOB, address]);
    expect(addressesIn(`${BOB};${address}`)).toEqual([BOB, address]);
  });

  test('whatever they are', () => {
    const sign = fc.constantFrom(...Array.from("ab1.-_+*~`&%#$!'/=?^{|}"));
    const local = fc
      .string({ unit: sign, minLength: 1, maxLength: 12 })
      .filter((one) => !one.startsWith('.'));
    fc.assert(
      fc.property(local, (name) => {
        expect(addressesIn(`${name}@ada-l.example`)).toEqual([`${name}@ada-l.example`]);
      }),
      { numRuns: 2000, examples: [['~a~.b'], ['a_.b'], ['*a*']] },
    );
  });
});

test.each([
  ['ada_.lovelace@example.com', 'ada.lovelace@example.com'],
  ['_ada@example.com, *bob@work.example', ADA],
  ['_ada@example.com, *bob@work.example', BOB],
  ['_ada@example.com*', ADA],
  ['`ada@example.com, ~bob@work.example~', ADA],
  ['ada&ampl@example.com', 'ada&l@example.com'],
  ['ı@example.com', 'i@example.com'],
  ['a.b@example.com', 'ab@example.com'],
  ['a+x@example.com', 'a@example.com'],
  ['a.@example.com', 'a@example.com'],
  ['a@faß.de', 'a@fass.de'],
  ['ada@my_company.com', 'ada@my'],
  ['ada@exam!ple.com', 'ada@exam'],
  ['ada@example.com.bob.smith@work.example', 'smith@work.example'],
])('%j has no %j', (text, other) => {
  expect(addressesIn(text)).not.toContain(other);
});

test.each([
  ...'|-|n/a|ada|@|@@|ada@|@example.com|ada @|a@b@c.de|ada@home@example.com|ada@-|ada@!!'.split(
    '|',
  ),
  ...'me @ home|ada@-example.com|ada@example..com|ada@.com|ada@exam_ple.com|ada@x.com2'.split('|'),
  ..."ada@example.c|'@example.com'|ada@127.0.0.1|ada@[127.0.0.1]|ada@127.1|ada@😀.com".split('|'),
  '\u200b@\u200b',
  '<@example.com>',
  `ada@${'a'.repeat(64)}.com`,
  `ada@${'a.'.repeat(130)}com`,
])('%j names nobody', (text) => {
  expect(addressesIn(text)).toEqual([]);
});

test('a host of one label names somebody, and proves nothing', () => {
  expect(addressesIn('Ada <ada@gmail>; bob@localhost.')).toEqual(['ada@gmail', 'bob@localhost']);
  expect(provesPerson('ada@gmail')).toBe(false);
  expect(provesPerson(ADA)).toBe(true);
});

describe('whatever a stranger types,', () => {
  const unit = fc.oneof(
    fc.constantFrom(...Array.from('@@@..ab<>"\'`*_~/|&+-,; (){}?!\u200b\u0301＠。İςﷺ「」')),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  );
  const text = fc.string({ unit, maxLength: 40 });

  test('an address is what it is when it is read again', () => {
    fc.assert(
      fc.property(text, text, (local, host) => {
        for (const address of addressesIn(`${local}@${host}.com`))
          expect(addressesIn(address)).toEqual([address]);
      }),
      {
        numRuns: 3000,
        examples: [
          ['<>\u0338', 'b'],
          ['mailto: mailto:a ', ' b. '],
          ['"a b"', 'c'],
        ],
      },
    );
  });

  test('an address is the same alone and with a blank before it', () => {
    const sign = fc.constantFrom(...Array.from('aZ09@...--__+K\u212a'));
    fc.assert(
      fc.property(fc.string({ unit: sign, maxLength: 12 }), (start) => {
        const address = `a${start}@b-1.example`;
        expect(addressesIn(address)).toEqual(addressesIn(` ${address}`));
        const domain = `a@${start}.com`;
        expect(addressesIn(domain)).toEqual(addressesIn(` ${domain}`));
      }),
      { numRuns: 3000, examples: [['b.'], ['xn--a'], ['a'.repeat(64)], ['a.'.repeat(130)]] },
    );
  });

  test('an address that stands between blanks in it is found', () => {
    const words = text.filter((one) => !one.normalize('NFKC').includes('"'));
    fc.assert(
      fc.property(words, words, (before, after) => {
        expect(addressesIn(`${before} ${ADA} ${after}`)).toContain(ADA);
      }),
      {
        numRuns: 3000,
        examples: [
          ['a@', '@'],
          ['a@127.1', ''],
          ["'", '?a=@'],
        ],
      },
    );
  });

  test('it takes bounded time: what is longer than 320 characters is none, before it is looked at', () => {
    const long = (characters: number) => `${'a'.repeat(characters)}@example.com`;
    expect(addressesIn(long(300))).toEqual([long(300)]);
    expect(addressesIn(long(320))).toEqual([]);
    for (const part of ['@', '@a', 'a@b.c', '"', '&#', '\ufdfa', 'l·', '@?a=', 'a.', '漢a', '。'])
      expect(stepsOf(() => void addressesIn(repeated(part)(320)))).toBeLessThan(1_000_000);
  });

  test(
    'time is linear in its length',
    () => {
      expect(growthOf(repeated('a@b.c,'), addressesIn)).toBeLessThan(LINEAR_GROWTH_MAX);
    },
    GROWTH_TIMEOUT_MS,
  );
});
