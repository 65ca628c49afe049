import { expect, test } from 'vitest';
import { routedPath, createKnownPaths } from '#http/requests/paths.ts';

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

function knowing(...routes: [method: string | string[], url: string][]) {
  const paths = createKnownPaths();
  for (const [method, url] of routes) paths.add({ method, url });
  return paths;
}

test('the methods of a path are those of all its routes, sorted and once each', () => {
  const paths = knowing(['PUT', '/a'], [['GET', 'HEAD'], '/a'], ['GET', '/a'], ['POST', '/b']);
  expect(paths.methodsOf('/a')).toEqual(['GET', 'HEAD', 'PUT']);
});

test('a path that no route has has no methods', () => {
  expect(knowing(['GET', '/a']).methodsOf('/a/b')).toBeUndefined();
  expect(knowing(['GET', '/a']).methodsOf('/A')).toBeUndefined();
  expect(knowing().methodsOf('/')).toBeUndefined();
});

test('a parameter stands for one segment that is not empty', () => {
  const paths = knowing(['GET', '/a/:id/b']);
  expect(paths.methodsOf('/a/7/b')).toEqual(['GET']);
  for (const other of ['/a//b', '/a/7/8/b', '/a/7']) expect(paths.methodsOf(other)).toBeUndefined();
});

test('templates that match the same path are counted together', () => {
  const paths = knowing(['GET', '/a/:id'], ['POST', '/a/replay']);
  expect(paths.methodsOf('/a/replay')).toEqual(['GET', 'POST']);
  expect(paths.methodsOf('/a/7')).toEqual(['GET']);
});

test('a star stands for the rest of a path', () => {
  expect(knowing(['GET', '/files/*']).methodsOf('/files/a/b')).toEqual(['GET']);
});

test('other characters of a template stand for themselves', () => {
  const paths = knowing(['GET', '/openapi.json']);
  expect(paths.methodsOf('/openapi.json')).toEqual(['GET']);
  expect(paths.methodsOf('/openapiXjson')).toBeUndefined();
});
