import { loadConfig } from '#config/load.ts';
import type { Config } from '#config/schema/schema.ts';

export const REPOSITORY = 'acme/leads';
export const WEBHOOK_SECRET = 'simulated-webhook-secret';
export const TOKENS = { service: 'service-token', admin: 'admin-token' };
export const PUBLIC_URL = 'https://leads.example.com';
export const SECRETS = {
  'crm-hmac': 'hmac-secret',
  'crm-v3': 'v3-secret',
  'crm-standard': `whsec_${Buffer.from('standard-secret-of-24-b!').toString('base64')}`,
  'crm-own': 'own-secret',
};
export type PartnerId = keyof typeof SECRETS;

const events = [
  { type: 'qualified', addLabels: ['qualified'], comment: 'Qualified by {partner}: {receiptId}' },
  { type: 'won', addLabels: ['won'], close: true },
];

/** One for all instances of all seeds. */
export function loadSettings(): Config {
  return loadConfig({
    environment: {},
    port: '0',
    settings: {
      store: { url: 'sqlite:simulated.db' },
      server: { publicUrl: PUBLIC_URL },
      tracker: {
        repository: REPOSITORY,
        apiUrl: 'http://127.0.0.1:9',
        auth: { token: TOKENS.service },
        adminToken: TOKENS.admin,
        webhookSecrets: [WEBHOOK_SECRET],
        requestTimeout: '10s',
        writeInterval: '200ms',
      },
      leads: {
        freshFor: '15s',
        staleIfError: '1m',
        feedInterval: '20s',
        portalAuthors: ['acme-portal[bot]'],
      },
      deletions: { deletedLabel: 'deleted', retry: ['1s', '5s', '30s', '2m', '10m'] },
      partners: {
        'crm-hmac': {
          scheme: 'hmac-sha256',
          secrets: [SECRETS['crm-hmac']],
          deletions: { types: ['*'], actions: ['relabel', 'close', 'comment'] },
          events,
        },
        'crm-v3': {
          scheme: 'signature-v3',
          secrets: [SECRETS['crm-v3']],
          deletions: {
            types: ['contact.deletion', 'contact.privacyDeletion'],
            actions: ['relabel', 'close'],
            privacy: ['relabel', 'close', 'redact'],
          },
          events,
        },
        'crm-standard': {
          scheme: 'standard-webhooks',
          secrets: [SECRETS['crm-standard']],
          deletions: { types: ['*'], actions: ['relabel', 'close', 'redact', 'comment'] },
          events,
        },
        'crm-own': {
          scheme: 'hmac',
          secrets: [SECRETS['crm-own']],
          signature: {
            header: 'x-own-signature',
            algorithm: 'sha512',
            encoding: 'base64',
            pairs: { timestamp: 't', signature: 'v1' },
            content: '{timestamp}.{body}',
            timestamp: { unit: 's', tolerance: '5m' },
          },
          deletions: { types: ['*'], actions: ['delete', 'comment'] },
          events,
        },
      },
    },
  });
}
