import { expect, test, describe } from 'vitest';
import { ENTITY_TAGS, matchesNone, parseIfMatch } from '#http/responses/rendered-response.ts';
import {
  prefers,
  prefersYaml,
  mediaTypeProblem,
  ANY_JSON_TYPE,
  requireJson,
} from '#http/requests/headers.ts';

test.each([
  'application/yaml',
  'application/x-yaml',
  'text/yaml; charset=utf-8',
  'application/json;q=0.5, application/yaml',
  'application/yaml, */*;q=0.1',
  ', application/yaml,,',
  'text/html, application/yaml ; q=0.9, application/json; q=0.8',
])('%s wants YAML', (accept) => {
  expect(prefersYaml(accept)).toBe(true);
});

test.each([
  undefined,
  '*/*',
  'application/json',
  'application/json, application/yaml',
  'application/yaml;q=0.5, application/json',
  'application/yaml;q=0',
  'application/yaml;q=x',
  'application/yaml;q=0, application/json;q=0.5, */*',
  'text/yaml;q=0.5, application/json;q=0.6, text/*',
])('%s wants JSON, or takes what there is', (accept) => {
  expect(prefersYaml(accept)).toBe(false);
});

test.each([
  'text/event-stream',
  'text/event-stream, */*',
  'text/event-stream, application/json',
  'application/json;q=0, text/event-stream;q=0.1',
  'text/event-stream;q=0.5, application/json;q=0.4, */*',
  'text/*',
  'text/*, application/json;q=0.5',
])('%s wants events', (accept) => {
  expect(prefers('text/event-stream', accept)).toBe(true);
});

test.each([
  undefined,
  '',
  '*/*',
  'application/json',
  'application/json, text/event-stream',
  'text/event-stream;q=0.5, application/json',
  'text/event-stream;q=0',
  'text/event-stream;q=x',
  'text/*;q=0.5, application/*',
  'text/*, application/json',
  'text/*, text/event-stream;q=0',
  'text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8',
  'text/event-streams',
])('%s wants JSON, or takes what there is', (accept) => {
  expect(prefers('text/event-stream', accept)).toBe(false);
});

test.each([
  ['application/jwt', true],
  ['application/jwt, application/json;q=0.9', true],
  ['application/jwt, */*;q=0.1', true],
  ['application/jwt;q=0.5, application/json', false],
  ['application/json, application/jwt', false],
  ['application/jwt;q=0', false],
  ['application/*', false],
  ['*/*', false],
  [undefined, false],
])('whether %s wants a certificate: %s', (accept, isWanted) => {
  expect(prefers('application/jwt', accept)).toBe(isWanted);
});

const typed = (type: string) => ({ headers: { 'content-type': type } });

test.each([
  'application/json',
  'Application/JSON',
  ' application/json ; charset=utf-8',
  'application/json;x=y',
])('%s is JSON', (type) => {
  expect(() => requireJson(typed(type))).not.toThrow();
});

test.each(['', 'text/plain', 'application/jsonp', 'application/json5', 'application/problem+json'])(
  '%j is not JSON',
  (type) => {
    expect(() => requireJson(typed(type))).toThrow(
      expect.objectContaining({ code: 'unsupported-media-type' }),
    );
  },
);

test.each([
  'application/json',
  'application/cloudevents+json',
  'Application/Vnd.Acme.v1+JSON; charset=utf-8',
  'application/ld+json;profile="x"',
])('%s is JSON of any type', (type) => {
  expect(() => requireJson(typed(type), ANY_JSON_TYPE)).not.toThrow();
});

test.each([
  '',
  'text/json',
  'text/x+json',
  'application/+json',
  'application/x+jsonp',
  'application/x +json',
])('%j is JSON of no type', (type) => {
  expect(() => requireJson(typed(type), ANY_JSON_TYPE)).toThrow(
    expect.objectContaining({ code: 'unsupported-media-type' }),
  );
});

test.each([
  {},
  { 'content-type': 'application/json' },
  { 'content-type': 'application/json; charset="UTF-8"' },
  { 'content-encoding': ' Identity ' },
  { 'content-encoding': '' },
  { 'content-encoding': ', identity,,' },
])('%j can be read', (headers) => {
  expect(mediaTypeProblem({ headers })).toBeNull();
});

test.each([
  [{ 'content-type': 'application/json; charset=latin1' }, 'Send the body in UTF-8.'],
  [{ 'content-type': 'application/json;Charset = utf-16' }, 'Send the body in UTF-8.'],
  [{ 'content-encoding': 'identity, gzip' }, 'Send the body without a `Content-Encoding`.'],
  [{ 'content-encoding': 'gzip' }, 'Send the body without a `Content-Encoding`.'],
])('%j cannot be read', (headers, detail) => {
  expect(mediaTypeProblem({ headers })).toMatchObject({ code: 'unsupported-media-type', detail });
});

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
