/** A service with a tracker that tells it of changes, ways to it that are bad, and who follows. */
import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';
import {
  createClient,
  type Change,
  type ChangesOptions,
  type TrackportClient,
} from '@trackport/client';
import { onTestFinished } from 'vitest';
import { scratchFolder } from '../../support/at-exit.ts';
import { createFakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/folder.ts';
import {
  compose,
  type Composed,
  crmOne,
  leadBody,
  openTracker,
  WEBHOOK_SECRET,
} from '../support/world.ts';
import { openServer } from '../../support/http/local-server.ts';

export type FeedWorld = {
  tracker: Tracker;
  service: Composed;
  /** By a way of its own. */
  clientAt: (baseUrl: string) => TrackportClient;
  /** Opens one; its number as text. */
  lead: (...labels: string[]) => string;
};

export async function openFeedWorld(
  settings: Record<string, unknown> = {},
  { tells = true } = {},
): Promise<FeedWorld> {
  const clock = createFakeClock();
  const tracker = await openTracker({ clock });
  tracker.createLabel({ name: 'eu' });
  const service = await compose({
    apiUrl: tracker.url,
    clock,
    settings: { partners: { 'crm-one': crmOne }, ...settings },
  });
  if (tells) tracker.addWebhook(`${service.url}/api/v1/webhooks/github`, WEBHOOK_SECRET);
  return {
    tracker,
    service,
    clientAt: (baseUrl) => createClient({ baseUrl, apiKey: service.key }),
    lead: (...labels) => {
      const issue = { body: leadBody('a@example.org'), labels: ['approved', ...labels] };
      return String(tracker.createIssue({ title: 'Lead', ...issue }).number);
    },
  };
}

const toText = ({ type, id }: Pick<Change, 'type' | 'id'>): string =>
  `${type === 'lead.changed' ? '+' : '-'}${id}`;

/** Follows in the background until the test is over, or `stop`. */
export function follow(client: TrackportClient, options: ChangesOptions) {
  const hangUp = new AbortController();
  const changes: Change[] = [];
  const failures: string[] = [];
  const ended = (async () => {
    const onFailure = (error: unknown): void => void failures.push(String(error));
    for await (const change of client.changes({ onFailure, ...options, signal: hangUp.signal }))
      changes.push(change);
  })().catch((error: unknown) => error);
  const stop = (): Promise<unknown> => {
    hangUp.abort();
    return ended;
  };
  onTestFinished(() => void stop());
  return { changes, failures, ended, stop, items: () => changes.map(toText) };
}

let installed: string | undefined;

/** A folder with the package in it, as `pack` makes it. */
export function clientFolder(pack: string): string {
  if (installed === undefined) {
    ({ path: installed } = scratchFolder('client'));
    // Built already: other tests read it at this time.
    const target = pack
      .replace('npm run -s client && ', '')
      .replace('destination client', `destination ${installed}`);
    execFileSync('sh', ['-ec', target], { stdio: ['ignore', 'ignore', 'inherit'] });
    const install = ['install', '--prefer-offline', './trackport-client-0.3.0.tgz'];
    execFileSync('npm', install, { cwd: installed, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const folder = temporaryFolder();
  symlinkSync(path.join(installed, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

const versionOf = (node: string): string =>
  spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '';
const places = (process.env['PATH'] ?? '').split(':').map((folder) => path.join(folder, 'node'));

/** Undefined where there is none. */
export const node20 = [...places, '/usr/bin/node', '/usr/local/bin/node'].find((node) =>
  versionOf(node).startsWith('v20.'),
);
if (node20 === undefined) process.stderr.write('No Node 20 here: the client is not tried in it.\n');

type Way = { url: string; accepted: string[] };

/** A proxy that sends nothing on before it has all of an answer; or refuses streams by itself. */
export async function openProxy(target: string, refuseBy?: number): Promise<Way> {
  const accepted: string[] = [];
  const url = await openServer((request, response) => {
    const { headers } = request;
    const { accept = '' } = headers;
    accepted.push(accept);
    if (refuseBy !== undefined && accept === 'text/event-stream')
      return void response.writeHead(refuseBy).end('<h1>No</h1>');
    const hangUp = new AbortController();
    response.on('close', () => hangUp.abort());
    const sent = { accept, 'x-api-key': String(headers['x-api-key']) };
    void (async () => {
      const answer = await fetch(`${target}${request.url}`, {
        headers: sent,
        signal: hangUp.signal,
      });
      const text = await answer.text();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    })().catch(() => response.destroy());
  });
  return { url, accepted };
}
