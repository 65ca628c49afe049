import { createHmac } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { writeMigratedStore } from '../../support/migrated-store.ts';
import { runHere } from './command.ts';
import { configFile, listening, trackport, type Trackport } from './process.ts';

export const TRACKER_TOKEN = 'a-tracker-token-of-this-test';
export const WEBHOOK_SECRET = 'a-webhook-secret-of-this-test';

export type World = { tracker: Tracker; config: string; key: string };

/** A tracker, a configuration for it, and a consumer that may read every lead. */
export async function createWorld(settings: Record<string, unknown> = {}): Promise<World> {
  const tracker = await startTracker({ tokens: [{ token: TRACKER_TOKEN, can: 'write' }] });
  onTestFinished(() => tracker.close());
  tracker.createLabel({ name: 'approved' });
  tracker.createLabel({ name: 'deleted-by-partner' });
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'data'));
  const config = configFile(
    {
      store: { url: `sqlite:${path.join(folder, 'data', 'trackport.db')}` },
      tracker: {
        repository: 'acme/leads',
        apiUrl: tracker.url,
        auth: { token: TRACKER_TOKEN },
        webhookSecrets: [WEBHOOK_SECRET],
        writeInterval: '0s',
      },
      leads: { freshFor: '1h' },
      partners: { 'crm-one': crmOne },
      ...settings,
    },
    folder,
  );
  if (!('store' in settings)) writeMigratedStore(storeFileOf(config));
  const created = await command(config, 'consumer', 'create', 'sales', '--grant', 'leads:read');
  const { key } = JSON.parse(created) as { key: string };
  return { tracker, config, key };
}

/** The file of its store, unless the settings name another one. */
export function storeFileOf(config: string): string {
  return path.join(path.dirname(config), 'data', 'trackport.db');
}

/** Output of a command with `--json`, beside a service that may have the store open. @throws with its complaint */
export async function command(config: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...args, '--json', '--config', config]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

export const PARTNER_SECRET = 'a-partner-secret-of-this-test';

/** Section of the partner `crm-one` in a configuration, as which `sendDeletion` signs. */
export const crmOne = { scheme: 'hmac-sha256', secrets: [PARTNER_SECRET] };

/** Sends a deletion, of the lead of this number or as the event says, or what else `path` says, as the partner does. */
export function sendDeletion(
  url: string,
  deleted: number | object,
  { partner = 'crm-one', secret = PARTNER_SECRET, path = 'deletions' } = {},
): Promise<Response> {
  const event =
    typeof deleted === 'number' ? { eventId: `of-${deleted}`, leadId: `${deleted}` } : deleted;
  const body = JSON.stringify(event);
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  return fetch(`${url}/api/v1/webhooks/partners/${partner}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-partner-signature': `sha256=${digest}` },
    body,
  });
}

/** A lead as the issue form makes it. */
export function leadBody(email: string, message = 'Hello'): string {
  const fields = {
    'First name': 'Ada',
    Email: email,
    Company: 'Example',
    Interest: 'Demo',
    Message: message,
    'Source page': '/',
  };
  return Object.entries(fields)
    .map(([heading, value]) => `### ${heading}\r\n\r\n${value}`)
    .join('\r\n\r\n');
}

/** An approved lead of this person. */
export function openLead(
  tracker: Tracker,
  { title = 'Lead', email = 'a@example.org' } = {},
): ReturnType<Tracker['createIssue']> {
  return tracker.createIssue({ title, body: leadBody(email), labels: ['approved'] });
}

type ServeOptions = {
  preload?: URL;
  port?: number;
  environment?: Record<string, string>;
  program?: string;
};

/**
 * Starts the service on a free port, or on `port`, and answers its address. `preload` is a module that each
 * of its threads loads first.
 */
export async function serve(
  config: string,
  options: ServeOptions = {},
): Promise<{ run: Trackport; url: string }> {
  const { preload, port = 0, environment, program } = options;
  const run = trackport(['serve', '--config', config, '--port', String(port)], {
    environment: {
      ...environment,
      ...(preload && { NODE_OPTIONS: `--import=${preload.href}` }),
    },
    ...(program !== undefined && { program }),
  });
  return { run, url: await listening(run) };
}

type LeadListBody = { items: { id: string; title: string; contact: { email?: string } }[] };

export async function listLeads(url: string, key: string): Promise<LeadListBody['items']> {
  const answer = await fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  if (answer.status !== 200) throw new Error(`leads answered ${answer.status}`);
  return ((await answer.json()) as LeadListBody).items;
}

/** State of this process's worker in `readyz`. */
export async function workerAt(url: string): Promise<string> {
  const { checks } = (await (await fetch(`${url}/readyz`)).json()) as {
    checks: { worker: { state: string } };
  };
  return checks.worker.state;
}
