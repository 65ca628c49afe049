import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { ConfigError } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import { takeOver } from '#config/reload.ts';

const tracker = { repository: 'acme/leads', auth: { token: 'a-token' } };
const partner = { scheme: 'hmac-sha256', secrets: ['a-secret-of-the-partner'] };
const base = {
  tracker,
  partners: { crm: partner },
  identity: { issuer: 'https://id.example.com', audience: 'trackport' },
  portal: { clientId: 'trackport-portal' },
};

type Settings = Record<string, unknown>;

const configOf = (settings: Settings): Config => loadConfig({ environment: {}, settings });
const running = configOf(base);

const taken: [key: string, changes: Settings][] = [
  ['partners.crm.secrets', { partners: { crm: { ...partner, secrets: ['another-one-of-it'] } } }],
  ['partners.crm.enabled', { partners: { crm: { ...partner, enabled: false } } }],
  ['partners.crm.requireBearer', { partners: { crm: { ...partner, requireBearer: true } } }],
  ['partners.crm-two', { partners: { crm: partner, 'crm-two': partner } }],
  ['partners.crm', { partners: {} }],
  ['deletions.deletedLabel', { deletions: { deletedLabel: 'gone' } }],
  ['deletions.retry', { deletions: { retry: ['1s'] } }],
  ['consumers.limitPerMinute', { consumers: { limitPerMinute: 5 } }],
  ['catalog.types', { catalog: { types: ['DATASET'] } }],
  ['catalog.findings', { catalog: { findings: 'warn' } }],
  ['catalog.public', { catalog: { public: ['default'] } }],
  ['catalog.compatibility', { catalog: { compatibility: 'block' } }],
  ['server.logLevel', { server: { logLevel: 'debug' } }],
  ['tracker.auth.token', { tracker: { ...tracker, auth: { token: 'another' } } }],
  ['tracker.adminToken', { tracker: { ...tracker, adminToken: 'an-admin-token' } }],
  ['portal.clientSecret', { portal: { ...base.portal, clientSecret: 'a-client-secret' } }],
  ['tracker.webhookSecrets', { tracker: { ...tracker, webhookSecrets: ['a-webhook-secret'] } }],
];

test.each(taken)('%s is taken over', (key, changes) => {
  const next = configOf({ ...base, ...changes });
  expect(takeOver(running, next)).toEqual({ config: next, changed: [key], restartNeeded: [] });
});

test.each(taken)('%s is taken back', (key, changes) => {
  const before = configOf({ ...base, ...changes });
  expect(takeOver(before, running)).toEqual({ config: running, changed: [key], restartNeeded: [] });
});

test.each<[key: string, changes: Settings]>([
  ['server.port', { server: { port: 9 } }],
  ['server.publicUrl', { server: { publicUrl: 'https://adapter.example.com' } }],
  ['server.trustProxy', { server: { trustProxy: ['10.0.0.1'] } }],
  ['secretKey', { secretKey: Buffer.alloc(32).toString('base64') }],
  ['store.url', { store: { url: 'sqlite:elsewhere.db' } }],
  ['tracker.repository', { tracker: { ...tracker, repository: 'acme/others' } }],
  ['tracker.writeInterval', { tracker: { ...tracker, writeInterval: '2s' } }],
  ['leads.freshFor', { leads: { freshFor: '1s' } }],
  ['leads.form', { leads: { form: { email: 'E-mail' } } }],
  ['portal', { portal: undefined }],
  ['portal.clientId', { portal: { clientId: 'another' } }],
  ['identity.audience', { identity: { ...base.identity, audience: 'another' } }],
])('%s needs a restart and stays', (key, changes) => {
  const next = configOf({ ...base, ...changes });
  expect(takeOver(running, next)).toEqual({ config: running, changed: [], restartNeeded: [key] });
});

test('identity needs a restart and stays, with the portal that needs it', () => {
  const next = configOf({ ...base, portal: undefined, identity: undefined });
  expect(takeOver(running, next)).toEqual({
    config: running,
    changed: [],
    restartNeeded: ['identity', 'portal'],
  });
});

test('the same configuration read again changes nothing', () => {
  expect(takeOver(running, configOf(base))).toEqual({
    config: running,
    changed: [],
    restartNeeded: [],
  });
});

test('what needs a restart is told again until there was one', () => {
  const next = configOf({ ...base, leads: { freshFor: '1s' }, server: { logLevel: 'debug' } });
  const { config, changed, restartNeeded } = takeOver(running, next);
  expect([changed, restartNeeded]).toEqual([['server.logLevel'], ['leads.freshFor']]);
  expect(takeOver(config, next)).toEqual({ config, changed: [], restartNeeded });
});

const withoutIdentity = configOf({ tracker, partners: { crm: partner } });

test.each<[string, Config, Settings, string]>([
  [
    'a partner that needs tokens, while nothing checks them before a restart',
    withoutIdentity,
    { ...base, partners: { crm: { ...partner, requireBearer: true } } },
    'partners.crm.requireBearer',
  ],
  [
    'a deleted label that is the approved label until a restart',
    running,
    { ...base, leads: { approvedLabel: 'ok' }, deletions: { deletedLabel: 'Approved' } },
    'deletions.deletedLabel',
  ],
])('%s is refused as a whole', (_what, before, settings, path) => {
  const next = configOf({ ...settings, server: { logLevel: 'debug' } });
  const refused = (): unknown => takeOver(before, next);
  expect(refused).toThrow(ConfigError);
  expect(refused).toThrow(
    expect.objectContaining({ problems: [expect.objectContaining({ path })] }),
  );
});
