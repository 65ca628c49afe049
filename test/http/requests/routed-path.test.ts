import { expect, test } from 'vitest';
import { routedPath } from '#http/requests/routed-path.ts';

test.each([
  ['/api/v1/leads', '/api/v1/leads'],
  ['/api/v1/leads?limit=1', '/api/v1/leads'],
  ['/api/v1/leads#part', '/api/v1/leads'],
  ['http://other.example/api/v1/leads?x=/y', '/api/v1/leads'],
  ['HTTPS://other.example:8443/api', '/api'],
  ['http://other.example?x=1', ''],
  ['/api/v1/l%65ads', '/api/v1/leads'],
  ['/caf%C3%A9', '/café'],
])('%s is routed as %s', (target, path) => {
  expect(routedPath(target)).toBe(path);
});

test.each(['/a%2Fb', '/a%3Fb', '/a%23b', '/a%25b', '/a%252Fb'])(
  'an escape that means something in a path stays: %s',
  (target) => {
    expect(routedPath(target)).toBe(target);
  },
);

test.each(['/a%', '/a%zz', '/a%ff'])('what cannot be decoded stays as it came: %s', (target) => {
  expect(routedPath(target)).toBe(target);
});
