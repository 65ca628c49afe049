import { generateKeyPairSync } from 'node:crypto';

import { afterEach, describe, expect, test } from 'vitest';

import type { TrackerCredential } from '#adapters/github/transport/auth.ts';
import { createWebhookVerifier } from '#adapters/github/webhook.ts';
import type { Issue, IssueQuery, LeadTracker, TrackerEvent } from '#leads/lead-tracker.ts';
import { systemClock } from '#shared/clock.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { startTracker, SANDBOX_ADMIN_TOKEN } from '#sandbox/tracker/tracker.ts';
import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createParts, NAME, type Adapter, startServer } from './support.ts';

const newest: IssueQuery = { state: 'open', labels: [], order: 'created-desc' };
const longestUnchanged: IssueQuery = { state: 'all', labels: [], order: 'updated-asc' };
const isUnavailable = { code: 'tracker-unavailable' };

let tracker: Tracker | undefined;

type Rig = Adapter & { remote: Tracker };

/** The adapter and the tracker over HTTP, on one clock that stands still. */
async function setUp(
  options: TrackerOptions = {},
  credential: TrackerCredential = { token: new Secret(SANDBOX_ADMIN_TOKEN) },
): Promise<Rig> {
  const clock = createFakeClock();
  const remote = await startTracker({ clock, ...options });
  tracker = remote;
  const parts = createParts({ apiUrl: remote.url, credential, clock });
  return { ...parts, clock, remote };
}

afterEach(async () => {
  await tracker?.close();
  tracker = undefined;
});

describe('walking the list', () => {
  test('goes on where it was when issues are closed, deleted and opened meanwhile', async () => {
    const { remote, tracker, clock } = await setUp();
    remote.seedIssues(
      Array.from({ length: 250 }, (_, at) => ({
        title: `Issue ${at}`,
        createdAt: clock.now() - 10_000_000 + at * 1000,
      })),
    );
    const first = await listPage(tracker, newest);
    const last = first.issues.at(-1);
    remote.setState(last?.number ?? 0, 'closed');
    remote.deleteIssue(first.issues.at(-2)?.number ?? 0);
    remote.createIssue({ title: 'New' });
    const rest = await walk(tracker, { ...newest, ...(first.after && { after: first.after }) });
    const numbers = [...first.issues, ...rest].map(({ number }) => number);
    expect(numbers).toEqual(Array.from({ length: 250 }, (_, at) => 250 - at));
  });

  test('by change sees an issue that is touched ahead of it, and loses none', async () => {
    const { remote, tracker, clock } = await setUp();
    remote.seedIssues(
      Array.from({ length: 150 }, (_, at) => ({
        title: `Issue ${at}`,
        createdAt: clock.now() - 10_000_000 + at * 1000,
      })),
    );
    const first = await listPage(tracker, longestUnchanged);
    await clock.advance(60_000);
    remote.editIssue(140, { title: 'Touched' });
    const rest = await walk(tracker, { ...longestUnchanged, after: first.after ?? '' });
    const seen = new Set([...first.issues, ...rest].map(({ number }) => number));
    expect(seen.size).toBe(150);
    expect(rest.at(-1)).toMatchObject({ number: 140, title: 'Touched' });
  });

  test('filters by labels, state and the second of the change', async () => {
    const { remote, tracker, clock } = await setUp();
    const at = clock.now() - 100_000;
    remote.createIssue({ title: 'both', labels: ['approved', 'Größe L'], createdAt: at });
    remote.createIssue({ title: 'one', labels: ['approved'], createdAt: at });
    remote.createIssue({ title: 'closed', labels: ['approved', 'Größe L'], state: 'closed' });
    const titles = async (query: IssueQuery): Promise<string[]> =>
      (await walk(tracker, query)).map(({ title }) => title);
    const labels = ['APPROVED', 'größe l'];
    await expect(titles({ ...newest, labels })).resolves.toEqual(['both']);
    await expect(titles({ ...newest, labels, state: 'closed' })).resolves.toEqual(['closed']);
    const since = clock.now() - 50_000;
    await expect(titles({ ...longestUnchanged, since })).resolves.toEqual(['closed']);
  });
});

describe('conditional requests', () => {
  test('of an unchanged page cost nothing', async () => {
    const { remote, tracker } = await setUp();
    remote.createIssue({ title: 'Lead' });
    const { validator } = await listPage(tracker, newest);
    const before = tracker.quota()?.remaining;
    await expect(tracker.listIssues(newest, validator)).resolves.toEqual({ kind: 'unchanged' });
    expect(tracker.quota()?.remaining).toBe(before);
    expect(remote.calls.entries.at(-1)).toMatchObject({ status: 304, billed: false });
  });

  test('of an unchanged full page tell that now more follows', async () => {
    const { remote, tracker, clock } = await setUp();
    remote.seedIssues(
      Array.from({ length: 100 }, (_, at) => ({
        title: `Issue ${at}`,
        createdAt: clock.now() + at * 1000,
      })),
    );
    const { validator, after } = await listPage(tracker, newest);
    expect(after).toBeUndefined();
    remote.seedIssues([{ title: 'Older', createdAt: clock.now() - 1000 }]);
    const answer = await tracker.listIssues(newest, validator);
    expect(answer).toEqual({ kind: 'unchanged', after: expect.any(String) });
  });

  test('of one issue tell a change', async () => {
    const { remote, tracker, clock } = await setUp();
    const { number } = remote.createIssue({ title: 'Before', author: null, body: null });
    const first = await tracker.readIssue(number);
    const validator = first.kind === 'changed' ? first.validator : undefined;
    expect(first).toMatchObject({ issue: { title: 'Before', body: '' } });
    await expect(tracker.readIssue(number, validator)).resolves.toEqual({ kind: 'unchanged' });
    await clock.advance(1000);
    remote.editIssue(number, { title: 'After' });
    await expect(tracker.readIssue(number, validator)).resolves.toMatchObject({
      kind: 'changed',
      issue: { title: 'After', updatedAt: clock.now() },
    });
  });
});

describe('an issue that is not there', () => {
  test('never was, was deleted, was hidden, was moved: absent', async () => {
    const { remote, tracker } = await setUp();
    for (const title of ['a', 'b', 'c', 'd']) remote.createIssue({ title });
    remote.deleteIssue(1);
    remote.deleteIssue(2, { hidden: true });
    remote.transferIssue(3, 'acme/elsewhere');
    remote.transferIssue(4, 'acme/secret', { hidden: true });
    for (const number of [1, 2, 3, 4, 99])
      await expect(tracker.readIssue(number)).resolves.toEqual({
        kind: 'absent',
        isMoved: number === 3,
        isDeleted: number === 1,
      });
  });
});

describe('an App', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const app = (installation: number): TrackerOptions => ({
    // Tokens are made for the real time, which auth-app cannot be told otherwise.
    clock: { ...systemClock, sleep: () => Promise.resolve() },
    app: {
      id: 31,
      slug: 'trackport',
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      installations: [{ id: installation, can: 'write' }],
    },
  });
  const credential = (installation: number): TrackerCredential => ({
    appId: '31',
    installationId: String(installation),
    privateKey: new Secret(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()),
  });

  test('goes on with a new token in the middle of a walk', async () => {
    const { remote, tracker } = await setUp(app(7001), credential(7001));
    remote.seedIssues(Array.from({ length: 150 }, (_, at) => ({ title: `Issue ${at}` })));
    const first = await listPage(tracker, newest);
    remote.revokeInstallationTokens();
    const rest = await walk(tracker, { ...newest, after: first.after ?? '' });
    expect(new Set([...first.issues, ...rest].map(({ number }) => number)).size).toBe(150);
    expect(remote.calls.count({ path: /access_tokens/ })).toBe(2);
    const { validator } = first;
    await expect(tracker.listIssues(newest, validator)).resolves.toMatchObject({ kind: 'changed' });
  });

  test('that is suspended is tracker-unavailable, and works again afterwards', async () => {
    const { remote, tracker } = await setUp(app(7002), credential(7002));
    await tracker.listIssues(newest);
    remote.suspendInstallation(7002, true);
    await expect(tracker.listIssues(newest)).rejects.toMatchObject(isUnavailable);
    remote.suspendInstallation(7002, false);
    await expect(tracker.listIssues(newest)).resolves.toMatchObject({ kind: 'changed' });
  });
});

describe('webhooks of the tracker', () => {
  test('are genuine and understood', async () => {
    const secret = 'hook secret';
    const verifier = createWebhookVerifier({ secrets: [new Secret(secret)], name: NAME });
    const events: Promise<TrackerEvent>[] = [];
    const receiver = await startServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const header = (name: string): string => String(request.headers[name] ?? '');
        events.push(
          verifier.verify({
            event: header('x-github-event'),
            signature: header('x-hub-signature-256'),
            rawBody: Buffer.concat(chunks),
          }),
        );
        response.writeHead(202).end();
      });
    });
    const { remote } = await setUp({ webhooks: [{ url: receiver.url, secret }] });
    remote.createIssue({ title: 'Lead', labels: ['approved'] });
    remote.editIssue(1, { body: 'new words' });
    remote.createIssue({ title: 'Pull', isPullRequest: true });
    remote.renameLabel('approved', 'accepted');
    remote.transferIssue(1, 'acme/elsewhere');
    await remote.hooks.settled();
    const told = await Promise.all(events);
    expect(told.map((event) => summary(event))).toEqual(
      expect.arrayContaining(['ignored', 'issue 1', 'everything', 'issue 1 gone']),
    );
  });
});

function summary(event: TrackerEvent): string {
  if (event.kind !== 'issue') return event.kind;
  return `issue ${event.issue.number}${event.isGone ? ' gone' : ''}`;
}

async function listPage(tracker: LeadTracker, query: IssueQuery) {
  const answer = await tracker.listIssues(query);
  if (answer.kind !== 'changed') throw new Error('no validator was sent');
  return { ...answer.page, validator: answer.validator };
}

async function walk(tracker: LeadTracker, query: IssueQuery): Promise<Issue[]> {
  const page = await listPage(tracker, query);
  if (!page.after) return [...page.issues];
  return [...page.issues, ...(await walk(tracker, { ...query, after: page.after }))];
}
