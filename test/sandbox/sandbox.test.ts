import { describe, expect, test } from 'vitest';

import { startSandbox } from '#sandbox/sandbox.ts';
import { sampleIssues } from '#sandbox/seed.ts';
import { silentLog } from '#shared/log.ts';

import { createFakeClock } from '../support/clock.ts';
import { onEnd, openReceiver, send } from './support.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

async function openSandbox() {
  const sandbox = await startSandbox(
    { clock: createFakeClock(now), log: silentLog },
    { host: '127.0.0.1' },
  );
  onEnd(() => sandbox.close());
  return sandbox;
}

describe('the sample leads', () => {
  test('are the same for the same instant, oldest first, in whole seconds', () => {
    const issues = sampleIssues(now);
    expect(sampleIssues(now)).toEqual(issues);
    const dates = issues.map(({ createdAt = 0 }) => createdAt);
    expect([...dates].sort((a, b) => a - b)).toEqual(dates);
    expect(dates.every((date) => date % 1000 === 0 && date < now)).toBe(true);
    expect(issues.every(({ updatedAt = 0 }) => updatedAt <= now)).toBe(true);
  });

  test('hold what a form leaves behind, and nobody real', () => {
    const issues = sampleIssues(now);
    const text = issues.map(({ body }) => body).join('\n');
    expect(text).toContain('### First name\r\n\r\nAda\r\n\r\n### Email\r\n\r\nada@example.com\r\n');
    expect(text).toContain('_No response_');
    for (const [address] of text.matchAll(/[\w.]+@[\w.]+/g))
      expect(address).toMatch(/@example\.(com|org|net)$/i);
    expect(issues.filter(({ isPullRequest }) => isPullRequest)).not.toEqual([]);
    expect(issues.filter(({ labels = [] }) => !labels.includes('approved'))).not.toEqual([]);
    expect(issues.filter(({ state }) => state === 'closed')).not.toEqual([]);
    expect(issues.find(({ author }) => author === 'acme-portal[bot]')?.body).toMatch(
      /\n\n<!-- trackport\ncorrelationId: [\w-]+\nportalRunUrl: https:\/\/portal\.example\.com\/runs\/81\nexternalIds: \{ crm-two: "4711" \}\n-->\n$/,
    );
  });
});

describe('the sandbox', () => {
  test('answers with the token of its configuration, which may write but not delete', async () => {
    const { config, tracker } = await openSandbox();
    const { token } = config.tracker.auth;
    const { data } = await send(tracker, 'GET /repos/acme/leads', { token });
    expect(data).toMatchObject({ permissions: { push: true, admin: false } });
    const admin = await send(tracker, 'GET /repos/acme/leads', {
      token: config.tracker.adminToken,
    });
    expect(admin.data).toMatchObject({ permissions: { admin: true } });
    expect(config.tracker.apiUrl).toBe(tracker.url);
  });

  test('makes new secrets at each start', async () => {
    const [one, two] = [await openSandbox(), await openSandbox()];
    expect(one.config.tracker.auth.token).not.toBe(two.config.tracker.auth.token);
    expect(one.access.hmacPartner.secret).not.toBe(two.access.hmacPartner.secret);
  });

  test('delivers webhooks once it is told where', async () => {
    const sandbox = await openSandbox();
    const { url, received } = await openReceiver();
    sandbox.connectWebhook(url);
    sandbox.tracker.setState(Number(sandbox.access.leadId), 'closed');
    await sandbox.tracker.hooks.settled();
    expect(new Set(received.map(({ headers }) => headers['x-github-event']))).toEqual(
      new Set(['issues', 'ping']),
    );
  });

  test.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])('refuses to serve %s', async (host) => {
    await expect(
      startSandbox({ clock: createFakeClock(now), log: silentLog }, { host }),
    ).rejects.toMatchObject({ code: 'validation-failed' });
  });
});
