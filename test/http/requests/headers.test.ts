import { expect, test } from 'vitest';
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
