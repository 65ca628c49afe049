import { expect, test } from 'vitest';
import { mediaTypeProblem, requireJson } from '#http/requests/content-type.ts';

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
  {},
  { 'content-type': 'application/json' },
  { 'content-type': 'application/json; charset="UTF-8"' },
  { 'content-encoding': ' Identity ' },
])('%j can be read', (headers) => {
  expect(mediaTypeProblem({ headers })).toBeNull();
});

test.each([
  [{ 'content-type': 'application/json; charset=latin1' }, 'Send the body in UTF-8.'],
  [{ 'content-type': 'application/json;Charset = utf-16' }, 'Send the body in UTF-8.'],
  [{ 'content-encoding': 'gzip' }, 'Send the body without a `Content-Encoding`.'],
])('%j cannot be read', (headers, detail) => {
  expect(mediaTypeProblem({ headers })).toMatchObject({ code: 'unsupported-media-type', detail });
});
