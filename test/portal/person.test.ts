import { may, roleOf } from '#portal/page.ts';
import { expect, test } from 'vitest';

test('a person may what their scopes say', () => {
  const person = { scopes: ['catalog:read'] };
  expect(may(person, 'catalog:read')).toBe(true);
  expect(may(person, 'catalog:write')).toBe(false);
});

test.each([
  [[], 'guest'],
  [['catalog:read', 'catalog:write'], 'writer of the catalog'],
  [['trackport:admin', 'catalog:read'], 'operator and reader of the catalog'],
])('%j is a role in words', (scopes, role) => {
  expect(roleOf({ scopes })).toBe(role);
});
