import { expect, test } from 'vitest';
import { ownPath } from '#portal/paths.ts';

test.each([
  '/portal',
  '/portal/audit?who=..%2F..',
  '/portal/catalog/acme%2Forders-api',
  '/portal/consumers/1.2..3',
])('%s is a path to come back to', (path) => {
  expect(ownPath(path)).toBe(path);
});

test.each([
  '/portal/audit/%2e%2e/%2E%2E/api/v1/leads',
  '/portal/.%2e/docs',
  '/portal/%2e',
  '/portal/..',
  '/portal//evil.example',
  '//evil.example',
  'https://evil.example/portal',
  '/portal/../evil',
  '/portal/\\evil.example',
  '/portal/sign-out',
  '/portals',
  'javascript:alert(1)',
  `/portal?${'a'.repeat(3000)}`,
])('%s leads to the first page', (path) => {
  expect(ownPath(path)).toBe('/portal');
});
