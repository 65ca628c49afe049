import { type RequestListener } from 'node:http';
import { inspect } from 'node:util';

import nock from 'nock';
import { afterEach, beforeEach } from 'vitest';

import {
  createTrackerClient,
  type TrackerClient,
  type TrackerConnection,
} from '#adapters/github/transport/client.ts';
import { createLeadTracker } from '#adapters/github/lead-tracker.ts';
import { createRepository, type Repository } from '#adapters/github/repository.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openServer } from '../../support/http/local-server.ts';

/** No such host exists: what nock does not answer, fails. */
export const API = 'https://api.tracker.test';
export const NAME = { owner: 'acme', repo: 'leads' };
export const ISSUES = '/repos/acme/leads/issues';
export const REPOSITORY = '/repos/acme/leads';
export const TOKEN = 'ghp_theTokenThatMustStayHere';

export type Adapter = {
  client: TrackerClient;
  repository: Repository;
  tracker: LeadTracker;
  clock: FakeClock;
};

/** The adapter as the composition root builds it. */
export function createParts(overrides: Partial<TrackerConnection> = {}): Adapter {
  const clock = createFakeClock();
  const client = createTrackerClient({
    apiUrl: API,
    credential: { token: new Secret(TOKEN) },
    requestTimeoutMs: 60_000,
    clock,
    userAgent: 'trackport-test',
    ...overrides,
  });
  const repository = createRepository(client, NAME, clock);
  return { client, repository, clock, tracker: createLeadTracker(client, repository) };
}

export const wireIssue = {
  id: 1001,
  node_id: 'I_kwDO1',
  number: 7,
  title: 'A lead',
  body: '### Email\n\nada@example.com\n',
  state: 'open',
  user: { login: 'ada', id: 1, type: 'User' },
  labels: [{ id: 1, name: 'approved', color: 'ededed', description: null }],
  assignees: [{ login: 'sam' }, { login: 'kim' }],
  created_at: '2026-02-01T10:00:00Z',
  updated_at: '2026-02-02T11:30:05Z',
};

/** The same as we have it. */
export const ownIssue = {
  number: 7,
  title: 'A lead',
  body: '### Email\n\nada@example.com\n',
  state: 'open',
  labels: ['approved'],
  assignees: ['sam', 'kim'],
  author: 'ada',
  createdAt: Date.parse('2026-02-01T10:00:00Z'),
  updatedAt: Date.parse('2026-02-02T11:30:05Z'),
  isPullRequest: false,
};

export const wireRepository = {
  id: 4711,
  full_name: 'acme/leads',
  name: 'leads',
  private: true,
  archived: false,
  has_issues: true,
  permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
};

/** Everything that a thrown value may show when it is logged carelessly. */
export function everythingIn(error: unknown): string {
  return inspect(error, { depth: 10, showHidden: true });
}

/** nock answers a call that no script expects with 501, which a test could take for a fault. */
const unexpected: string[] = [];
nock.emitter.on('no match', ({ method, url }: Request) => {
  if (new URL(url).hostname !== '127.0.0.1') unexpected.push(`${method} ${url}`);
});

/** Every scripted answer of a test is fetched, and no other is asked for. */
export function watchNock(): void {
  beforeEach(() => void unexpected.splice(0)); // other files in this process ask, too
  afterEach(() => {
    const unused = nock.pendingMocks();
    nock.cleanAll();
    const extra = unexpected.splice(0);
    if (unused.length + extra.length > 0)
      throw new Error(`unused answers: ${unused.join()}; unexpected calls: ${extra.join()}`);
  });
}

export type LocalServer = { url: string; requests: string[] };

/** A real socket, for what only sockets can do: hang, break off, stay open. */
export async function startServer(listener: RequestListener): Promise<LocalServer> {
  const requests: string[] = [];
  const url = await openServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  return { url, requests };
}
