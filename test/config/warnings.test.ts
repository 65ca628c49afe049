import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { configWarnings } from '#config/warnings.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const tracker = {
  repository: 'acme/leads',
  auth: { token: 'token' },
  webhookSecrets: ['webhook-secret'],
};

function warnedOf(settings: Record<string, unknown>): string[] {
  const config = loadConfig({ environment: {}, port: undefined, settings });
  return configWarnings(config, NOW).map(({ key }) => key);
}

test('nothing is said of a configuration that does all it can', () => {
  const identity = { issuer: 'https://id.example.com', audience: 'trackport' };
  const portal = { clientId: 'trackport-portal' };
  expect(warnedOf({ tracker, identity, portal })).toEqual([]);
});

const partner = { scheme: 'signature-v3', secrets: ['a-secret-of-the-partner'] };

const unbound = { ...partner, scheme: 'hmac-sha256', events: [{ type: 'won', close: true }] };

test.each([
  ['tracker.webhookSecrets', { tracker: { ...tracker, webhookSecrets: [] } }],
  ['server.publicUrl', { tracker, partners: { crm: partner } }],
  [
    'server.publicUrl',
    {
      tracker,
      partners: {
        crm: { ...partner, scheme: 'hmac', signature: { header: 'X-Sig', content: '{url}{body}' } },
      },
    },
  ],
  [
    'partners.crm.secrets[0]',
    {
      tracker,
      partners: { crm: { scheme: 'standard-webhooks', secrets: ['whsec_MfKQ9r8GKYqrTwjU'] } },
    },
  ],
  [
    'partners.crm.secrets[1]',
    {
      tracker,
      server: { publicUrl: 'https://adapter.example.com' },
      partners: {
        crm: { ...partner, secrets: ['sixteen bytes ok', { value: 'only fifteen by' }] },
      },
    },
  ],
  [
    'partners.crm.events[2]',
    {
      tracker,
      server: { publicUrl: 'https://adapter.example.com' },
      partners: {
        crm: { ...partner, events: ['a', '*', 'b'].map((type) => ({ type, close: true })) },
      },
    },
  ],
  [
    'tracker.adminToken',
    {
      tracker,
      server: { publicUrl: 'https://adapter.example.com' },
      partners: { crm: { ...partner, deletions: { actions: ['delete'] } } },
    },
  ],
  ['partners.crm.deletions.types', { tracker, partners: { crm: unbound } }],
])('what is likely not meant is said: %s', (key, settings) => {
  expect(warnedOf(settings)).toEqual([key]);
});

test.each([
  ['the types that delete are named', { ...unbound, deletions: { types: ['gone'] } }],
  ['it sends no events', { ...unbound, events: undefined }],
])('a signature that covers no path is good enough where %s', (_where, crm) => {
  expect(warnedOf({ tracker, partners: { crm } })).toEqual([]);
});

test.each([
  ['ended', { notAfter: '2026-03-01T11:59:59Z' }, {}, ['partners.crm.secrets']],
  ['does not count yet', { notBefore: '2026-03-02' }, {}, ['partners.crm.secrets']],
  ['counts until now', { notAfter: '2026-03-01T12:00:00Z' }, {}, []],
  ['ended, of a disabled partner', { notAfter: '2026-01-01' }, { enabled: false }, []],
])('the only secret %s', (_how, times, more, said) => {
  const secrets = [{ value: 'a-secret-of-the-partner', ...times }];
  const crm = { scheme: 'hmac-sha256', secrets, ...more };
  expect(warnedOf({ tracker, partners: { crm } })).toEqual(said);
});

test('a secret counts by its bytes, and is not part of what is said', () => {
  const short = { scheme: 'hmac-sha256', secrets: ['ééééééé', 'éééééééé'] };
  const config = loadConfig({ environment: {}, settings: { tracker, partners: { crm: short } } });
  const warnings = configWarnings(config, NOW);
  expect(warnings.map(({ key }) => key)).toEqual(['partners.crm.secrets[0]']);
  expect(JSON.stringify(warnings)).not.toContain('é');
});
