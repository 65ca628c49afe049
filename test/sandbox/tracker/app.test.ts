import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { describe, expect, test } from 'vitest';

import type { Tracker } from '#sandbox/tracker/tracker-api.ts';

import { problemsOfAnswer } from '../github-description.ts';
import { openReceiver, openTracker, REPO, send } from '../support.ts';
import { rsaKeys } from '../../support/rsa-keys.ts';

const keys = rsaKeys();

const app = {
  id: 17,
  slug: 'trackport',
  publicKey: keys.publicKey,
  installations: [
    { id: 5, can: 'write' },
    { id: 6, can: 'read' },
  ],
} as const;

function octokitOf(tracker: Tracker, { privateKey = keys.privateKey, installationId = 5 } = {}) {
  return new Octokit({
    baseUrl: tracker.url,
    authStrategy: createAppAuth,
    auth: { appId: app.id, privateKey, installationId },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
}

const issue = { owner: 'acme', repo: 'leads', issue_number: 1 };

describe('a GitHub App', () => {
  test('mints a token with its key and works with it as a bot', async () => {
    const tracker = await openTracker({ app });
    tracker.createIssue({ title: 'A' });
    const { data } = await octokitOf(tracker).rest.issues.update({ ...issue, state: 'closed' });
    expect(data.closed_by).toMatchObject({ login: 'trackport[bot]', type: 'Bot' });
    expect(tracker.calls.entries.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /app/installations/5/access_tokens',
      `PATCH ${REPO}/issues/1`,
    ]);
  });

  test('has a token of the form ghs_<app id>_<jwt>, longer than 500 characters', async () => {
    const tracker = await openTracker({ app });
    const { token } = (await octokitOf(tracker).auth({ type: 'installation' })) as {
      token: string;
    };
    expect(token).toMatch(/^ghs_17_[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(token.length).toBeGreaterThan(500);
    expect(token.length).toBeLessThan(560);
    expect((await send(tracker, `GET ${REPO}/issues`, { token })).status).toBe(200);
  });

  test('is described, for its own JWT only', async () => {
    const tracker = await openTracker({ app });
    const { data } = await octokitOf(tracker).rest.apps.getAuthenticated();
    expect(data).toMatchObject({ id: 17, slug: 'trackport' });
    expect((await send(tracker, 'GET /app')).status).toBe(401);
  });

  test('an installation may do what it was granted', async () => {
    const tracker = await openTracker({ app });
    tracker.createIssue({ title: 'A' });
    const octokit = octokitOf(tracker, { installationId: 6 });
    expect((await octokit.rest.issues.get(issue)).status).toBe(200);
    await expect(octokit.rest.issues.update({ ...issue, state: 'closed' })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('Resource not accessible by integration') as string,
    });
  });

  test('a key of somebody else mints nothing', async () => {
    const tracker = await openTracker({ app });
    const other = rsaKeys();
    const octokit = octokitOf(tracker, { privateKey: other.privateKey });
    await expect(octokit.rest.issues.get(issue)).rejects.toMatchObject({ status: 401 });
  });

  test('a suspended installation is refused with 403', async () => {
    const tracker = await openTracker({ app });
    tracker.createIssue({ title: 'A' });
    const octokit = octokitOf(tracker);
    await octokit.rest.issues.get(issue);
    tracker.suspendInstallation(5, true);
    await expect(octokit.rest.issues.get(issue)).rejects.toMatchObject({ status: 403 });
    tracker.suspendInstallation(5, false);
    expect((await octokit.rest.issues.get(issue)).status).toBe(200);
  });

  test('a revoked token is 401 although it has not expired', async () => {
    const tracker = await openTracker({ app });
    tracker.createIssue({ title: 'A' });
    const octokit = octokitOf(tracker);
    const { token } = (await octokit.auth({ type: 'installation' })) as { token: string };
    expect((await send(tracker, `GET ${REPO}/issues/1`, { token })).status).toBe(200);
    tracker.revokeInstallationTokens();
    expect((await send(tracker, `GET ${REPO}/issues/1`, { token })).status).toBe(401);
  });

  test('sees its own webhook, and the repository sees none of it', async () => {
    const tracker = await openTracker({ app });
    const { rest } = octokitOf(tracker);
    expect((await rest.apps.getWebhookConfigForApp()).data).not.toHaveProperty('url');
    const { url } = await openReceiver();
    tracker.hooks.add({ url, secret: 'an-app-secret', isOfApp: true });
    await tracker.hooks.settled();
    const config = await rest.apps.getWebhookConfigForApp();
    expect(problemsOfAnswer({ method: 'GET', path: '/app/hook/config' }, 200, config.data)).toEqual(
      [],
    );
    expect(config.data).toMatchObject({ url, content_type: 'json', secret: '********' });
    const { data } = await rest.apps.listWebhookDeliveries();
    expect(problemsOfAnswer({ method: 'GET', path: '/app/hook/deliveries' }, 200, data)).toEqual(
      [],
    );
    expect(data).toMatchObject([{ event: 'ping', status_code: 202 }]);
    expect((await send(tracker, `GET ${REPO}/hooks`)).data).toEqual([]);
    expect((await send(tracker, 'GET /app/hook/config')).status).toBe(401);
  });
});
