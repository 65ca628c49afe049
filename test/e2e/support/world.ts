import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { writeMigratedStore } from '../../support/migrated-store.ts';
import { runHere } from './command.ts';
import { configFile, listening, trackport, type Trackport } from './process.ts';
import { loadConfig } from '#config/load.ts';
import { newUuid } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import { type Service, startService } from '#compose/service.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { withoutRelief } from '../../support/http/app.ts';
import { signedBy } from '../../support/signed-by.ts';

export const TRACKER_TOKEN = 'a-tracker-token-of-this-test';
export const NEXT_TRACKER_TOKEN = 'the-next-tracker-token-of-this-test';
export const WEBHOOK_SECRET = 'a-webhook-secret-of-this-test';

/** A tracker that takes `TRACKER_TOKEN` and `NEXT_TRACKER_TOKEN`, and has the labels; closed when the test ends. */
export async function openTracker(options: TrackerOptions = {}): Promise<Tracker> {
  const tracker = await startTracker({
    tokens: [TRACKER_TOKEN, NEXT_TRACKER_TOKEN].map((token) => ({ token, can: 'write' })),
    ...options,
  });
  onTestFinished(() => tracker.close());
  for (const name of ['approved', 'deleted-by-partner']) tracker.createLabel({ name });
  return tracker;
}

/** Section of the configuration for a tracker at this address. */
export const trackerAt = (apiUrl: string) => ({
  repository: 'acme/leads',
  apiUrl,
  auth: { token: TRACKER_TOKEN },
  webhookSecrets: [WEBHOOK_SECRET],
});

export type World = { tracker: Tracker; config: string; key: string };

/** A tracker, a configuration for it, and a consumer that may read every lead. */
export async function createWorld(settings: Record<string, unknown> = {}): Promise<World> {
  const tracker = await openTracker();
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'data'));
  const config = configFile(
    {
      store: { url: `sqlite:${path.join(folder, 'data', 'trackport.db')}` },
      tracker: { ...trackerAt(tracker.url), writeInterval: '0s' },
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
  return fetch(`${url}/api/v1/webhooks/partners/${partner}/${path}`, {
    method: 'POST',
    headers: signedBy('hmac-sha256', secret, { body }),
    body,
  });
}

/** A lead as the issue form makes it. */
export function leadBody(
  email: string,
  message = 'Hello',
  { firstName = 'Ada', company = 'Example' } = {},
): string {
  const fields = {
    'First name': firstName,
    Email: email,
    Company: company,
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

/** The whole service in this process, on a clock that tests move. */
export type Composed = {
  service: Service;
  url: string;
  /** Of a consumer that may read every lead. */
  key: string;
  clock: FakeClock;
  /** The SQLite file. */
  storePath: string;
  /** GET with the key. */
  get: (target: string) => Promise<Response>;
  /** Every line logged so far, the debug ones too, as JSON. */
  logText: () => string;
};

type ComposedOptions = {
  /** Root of the tracker's API. */
  apiUrl: string;
  repository?: string;
  clock?: FakeClock;
  /** Real time that a call to the tracker may take; default one minute, for machines that are busy. */
  requestTimeout?: string;
  /** Sections of the configuration file. */
  settings?: Record<string, unknown>;
};

/** Composes the service as the program does, on a port of its own. */
export async function compose(options: ComposedOptions): Promise<Composed> {
  const { apiUrl, repository = 'acme/leads', requestTimeout = '1m', settings = {} } = options;
  const clock = options.clock ?? createFakeClock();
  const storePath = writeMigratedStore(path.join(temporaryFolder(), 'trackport.db'));
  const config = loadConfig({
    environment: {},
    port: '0',
    settings: {
      store: { url: `sqlite:${storePath}` },
      tracker: { ...trackerAt(apiUrl), repository, requestTimeout },
      leads: { freshFor: '15s' },
      ...settings,
    },
  });
  const { log, logText } = createLogBook();
  const limits = withoutRelief;
  const service = await startService({ config, clock, log, limits });
  onTestFinished(() => stopService(service, clock));
  const { issued } = await service.access.consumers.create(
    { name: `sales ${newUuid()}`, grants: [{ action: 'leads:read' }] },
    { actor: { kind: 'system', subject: 'test' } },
  );
  const key = issued.key.reveal();
  const get = (target: string) =>
    fetch(`${service.url}${target}`, { headers: { 'x-api-key': key } });
  return { service, url: service.url, key, clock, storePath, get, logText };
}

function createLogBook(): { log: Log; logText: () => string } {
  const lines: string[] = [];
  const write =
    (level: string): Log['info'] =>
    (fields, msg) =>
      void lines.push(JSON.stringify({ level, ...fields, msg }));
  return {
    log: {
      isDebug: () => true,
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    },
    logText: () => lines.join('\n'),
  };
}

/** A stop waits on the clock, which stands still unless it is moved. */
async function stopService(service: Service, clock: FakeClock): Promise<void> {
  const stopped = service.stop().then(() => true);
  for (let isStopped = false; !isStopped;)
    isStopped = await Promise.race([stopped, clock.advance(20).then(() => false)]);
}
