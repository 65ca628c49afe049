import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldText, searchTerms, searchTextOf } from '#catalog/reading/search-terms.ts';
import {
  GROWTH_TIMEOUT_MS,
  growthOf,
  LINEAR_GROWTH_MAX,
  repeated,
} from '../../support/work/growth.ts';

test.each([
  ['Zahlungs-API/v2.1', ['zahlungs', 'api', 'v2', '1']],
  ['Größe GRÖSSE größe GRÖẞE', ['grosse', 'grosse', 'grosse', 'grosse']],
  ['Éclair naïve Ångström', ['eclair', 'naive', 'angstrom']],
  ['e\u0301t\u00e9', ['ete']],
  ['ﬁrst Ⅷ', ['first', 'viii']],
  ['team@example.com', ['team', 'example', 'com']],
  ['注文 API', ['注文', 'api']],
  ['"a" OR b* AND (c)', ['a', 'or', 'b', 'and', 'c']],
  ['--- 🐈', []],
])('%s', (text, terms) => {
  expect(searchTerms(text)).toEqual(terms);
});

test(
  'long runs of combining marks are folded in linear time',
  () => {
    for (const text of ['\u0301\u0316', '\uff9e\uff9f', 'a\u0301\u0316', 'Σ'])
      expect(growthOf(repeated(text), searchTerms)).toBeLessThan(LINEAR_GROWTH_MAX);
  },
  GROWTH_TIMEOUT_MS,
);

test('every term of a version is found again in its text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (title, owner) => {
      const text = ` ${searchTextOf({ id: 'a', title, owner })} `;
      for (const term of searchTerms(`${title} ${owner}`)) expect(text).toContain(` ${term} `);
    }),
  );
});

test('every character is stable: folding it again changes nothing', () => {
  const characters = Array.from({ length: 0x11_00_00 }, (_, code) => String.fromCodePoint(code));
  const folded = characters.map(foldText).filter((text, code) => text !== characters[code]);
  const unstable = folded.filter((text) => foldText(text) !== text);
  expect(unstable).toEqual([]);
});

test('terms are stable: cutting and folding them again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const terms = searchTerms(text);
      expect(searchTerms(terms.join(' '))).toEqual(terms);
    }),
    { numRuns: 2000 },
  );
});
