import { describe, expect, test } from 'vitest';
import { ENTITY_TAGS, matchesNone, parseIfMatch } from '#http/requests/entity-tags.ts';

describe('If-None-Match', () => {
  test.each([
    ['the tag itself', '"a"'],
    ['its weak form', 'W/"a"'],
    ['a list that holds it', '"b", W/"c","a"'],
    ['a list with empty elements', ',"b", ,"a",'],
    ['any tag', '*'],
  ])('matches by %s', (_how, header) => {
    expect(matchesNone(header, '"a"')).toBe(true);
  });

  test.each([
    ['no header', undefined],
    ['another tag', '"b"'],
    ['a tag that only begins alike', '"ab"'],
    ['a tag in other case', '"A"'],
    ['an empty header', ''],
    ['a star beside a tag', '*, "b"'],
  ])('matches nothing by %s', (_how, header) => {
    expect(matchesNone(header, '"a"')).toBe(false);
  });
});

describe('If-Match', () => {
  test('demands nothing when it is absent', () => {
    expect(parseIfMatch(undefined)).toBeUndefined();
  });

  test('demands any state by a star', () => {
    expect(parseIfMatch('*')).toEqual({ kind: 'any' });
  });

  test('demands one of its tags, which stay weak or strong', () => {
    expect(parseIfMatch('"a", W/"b"')).toEqual({ kind: 'tags', tags: ['"a"', 'W/"b"'] });
  });

  test('takes a comma inside a tag for a part of it', () => {
    expect(parseIfMatch('"a,b"')).toEqual({ kind: 'tags', tags: ['"a,b"'] });
  });

  test.each(['*', '"a"', 'W/"a"', '"a","b"', '"a" ,\t"b"', '""'])('may be %s', (header) => {
    expect(header).toMatch(ENTITY_TAGS);
  });

  test.each(['"a",', ',"a"', ' , "a" , ', '"a",,"a"', ',\t,"a"'])(
    'may hold empty elements, as in %s, which count for nothing',
    (header) => {
      expect(header).toMatch(ENTITY_TAGS);
      expect(parseIfMatch(header)).toMatchObject({ tags: expect.arrayContaining(['"a"']) });
    },
  );

  test.each(['', '"a', 'w/"a"', '"a" "b"', '*, "a"', '"a",,W/', '"a b"', '"a\u0000"'])(
    'may not be %j',
    (header) => {
      expect(header).not.toMatch(ENTITY_TAGS);
    },
  );
});
