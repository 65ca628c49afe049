import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { configWarnings } from '#config/warnings.ts';

const tracker = {
  repository: 'acme/leads',
  auth: { token: 'token' },
  webhookSecrets: ['webhook-secret'],
};

function warnedOf(settings: Record<string, unknown>): string[] {
  const config = loadConfig({ environment: {}, port: undefined, settings });
  return configWarnings(config).map(({ key }) => key);
}

test('nothing is said of a configuration that does all it can', () => {
  expect(warnedOf({ tracker })).toEqual([]);
});

const identity = { issuer: 'https://id.example.com', audience: 'trackport' };
const partner = { scheme: 'signature-v3', secrets: ['a-secret-of-the-partner'] };

test.each([
  ['tracker.webhookSecrets', { tracker: { ...tracker, webhookSecrets: [] } }],
  ['portal', { tracker, identity, portal: { clientId: 'trackport-portal' } }],
  ['server.publicUrl', { tracker, partners: { crm: partner } }],
  [
    'tracker.adminToken',
    {
      tracker,
      server: { publicUrl: 'https://adapter.example.com' },
      partners: { crm: { ...partner, deletions: { actions: ['delete'] } } },
    },
  ],
])('what is likely not meant is said: %s', (key, settings) => {
  expect(warnedOf(settings)).toEqual([key]);
});
