import { expect, test } from 'vitest';
import type { ConsumerWithKey } from '#access/keys/manage-keys.ts';
import { shownKey } from '#portal/pages/consumers/actions.ts';

test.each([
  [[], '/api/v1/me'],
  [['catalog:read'], '/api/v1/catalog?limit=3'],
  [['catalog:read', 'leads:read'], '/api/v1/leads?limit=3'],
])('the command beside a new key reads what the grants %j open', (actions, path) => {
  const consumer = { grants: actions.map((action) => ({ action })) };
  const made = {
    consumer,
    issued: { key: { reveal: () => 'tpk_x' } },
  } as unknown as ConsumerWithKey;
  const { command } = shownKey(made, 'https://adapter.example.com');
  expect(command).toContain(`'https://adapter.example.com${path}'`);
  expect(command).not.toContain('tpk_x');
});
