import { may } from '#portal/person.ts';
import { expect, test } from 'vitest';

test('a person may what their scopes say', () => {
  const person = { scopes: ['catalog:read'] };
  expect(may(person, 'catalog:read')).toBe(true);
  expect(may(person, 'catalog:write')).toBe(false);
});
