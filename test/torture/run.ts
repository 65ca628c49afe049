import path from 'node:path';
import { SECRETS } from './people.ts';
import type { Acknowledged } from './people.ts';
import type { RemoteTracker } from './service.ts';

/** What happened, and all that should not have. */
export type TortureReport = {
  kills: number;
  people: number;
  sent: number;
  acknowledged: number;
  repeats: number;
  /** Bodies of leads that salespeople changed meanwhile. */
  edits: number;
  /** Complete reads of all leads meanwhile. */
  walks: number;
  trackerCalls: number;
  trackerFailures: number;
  replayed: number;
  violations: string[];
};

/** One torture, from its start to the verdict. */
export type Run = {
  folder: string;
  port: number;
  tracker: RemoteTracker;
  random: () => number;
  acknowledged: Acknowledged[];
  report: TortureReport;
  output: string;
  until: number;
};

/** Known, so that the verdict can look people up in the directory. */
export const SECRET_KEY = Buffer.alloc(32, 11);
export const WEBHOOK_SECRET = 'webhook-secret-of-the-torture';

export const configPath = ({ folder }: Run): string => path.join(folder, 'trackport.yaml');
export const databasePath = ({ folder }: Run): string => path.join(folder, 'trackport.db');

/** The configuration file. */
export function configOf({ port, tracker, folder }: Run): string {
  const partner = (scheme: string, id: keyof typeof SECRETS, deletions: string): string =>
    `  ${id}: { scheme: ${scheme}, secrets: ["${SECRETS[id]}"], deletions: { ${deletions} } }`;
  return [
    `server: { port: ${port}, publicUrl: "http://127.0.0.1:${port}", logLevel: debug }`,
    `store: { url: "sqlite:${folder}/trackport.db" }`,
    `secretKey: ${SECRET_KEY.toString('base64')}`,
    'tracker:',
    '  repository: acme/leads',
    `  apiUrl: ${tracker.url}`,
    `  auth: { token: ${tracker.token} }`,
    `  adminToken: ${tracker.token}`,
    `  webhookSecrets: [${WEBHOOK_SECRET}]`,
    '  writeInterval: 2ms',
    '  requestTimeout: 250ms',
    'leads: { portalAuthors: ["acme-portal[bot]"], freshFor: 200ms }',
    `deletions: { retry: [${Array.from({ length: 40 }, () => '100ms').join(', ')}] }`,
    'partners:',
    partner('hmac-sha256', 'crm-one', 'actions: [relabel, close, comment]'),
    partner(
      'signature-v3',
      'crm-two',
      'actions: [relabel, close, comment], privacy: [relabel, close, redact, comment]',
    ),
    partner('hmac-sha256', 'crm-three', 'actions: [delete, relabel, close]'),
    '',
  ].join('\n');
}
