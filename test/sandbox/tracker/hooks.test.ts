import { createHmac } from 'node:crypto';

import { Webhooks } from '@octokit/webhooks';
import { describe, expect, test } from 'vitest';

import type { Tracker } from '#sandbox/tracker/tracker-api.ts';

import { problemsOfPayload } from '../github-description.ts';
import { openReceiver, openTracker, type Received, REPO, send } from '../support.ts';

const SECRET = "It's a Secret to Everybody";

type Payload = Record<string, never> & { action?: string };

async function openHooked() {
  const receiver = await openReceiver();
  const tracker = await openTracker();
  tracker.hooks.add({
    url: receiver.url,
    secret: SECRET,
    events: ['issues', 'label', 'repository', 'issue_comment'],
  });
  await tracker.hooks.settled();
  receiver.received.length = 0;
  return { tracker, ...receiver };
}

function payloadOf({ body }: Received): Payload {
  return JSON.parse(body) as Payload;
}

function namesOf(received: readonly Received[]): string[] {
  return received.map(
    (item) => `${String(item.headers['x-github-event'])}.${payloadOf(item).action ?? ''}`,
  );
}

/** Every kind of change that the tracker tells of. */
function changeEverything(tracker: Tracker): void {
  tracker.createIssue({ title: 'A', body: 'old' });
  tracker.createIssue({ title: 'B' });
  tracker.editIssue(1, { title: 'A2', body: 'new' });
  tracker.relabel(1, { add: ['approved'] });
  tracker.relabel(1, { remove: ['approved'] });
  tracker.editIssue(1, { assignees: ['ada'] });
  tracker.editIssue(1, { assignees: [] });
  tracker.setState(1, 'closed');
  tracker.setState(1, 'open');
  tracker.editIssue(1, { type: 'Bug' });
  tracker.editIssue(1, { type: null });
  tracker.editIssue(1, { fields: { Region: { option: 'EMEA' }, Size: 3, Products: ['A', 'B'] } });
  tracker.editIssue(1, { fields: { Due: '2026-12-01', Note: 'soon', Region: null, Size: 4 } });
  tracker.addComment(1, 'Hello');
  tracker.relabel(1, { add: ['approved'] });
  tracker.renameLabel('approved', 'accepted');
  tracker.deleteLabel('accepted');
  tracker.transferIssue(1, 'acme/archive');
  tracker.deleteIssue(2);
  tracker.renameRepository('prospects');
}

describe('payloads', () => {
  test('each change is told once, in the description’s shape', async () => {
    const { tracker, received } = await openHooked();
    changeEverything(tracker);
    await tracker.hooks.settled();
    expect(namesOf(received).sort()).toEqual([
      'issue_comment.created',
      'issues.assigned',
      'issues.closed',
      'issues.deleted',
      'issues.edited',
      'issues.field_added',
      'issues.field_added',
      'issues.field_added',
      'issues.field_added',
      'issues.field_added',
      'issues.field_added',
      'issues.field_removed',
      'issues.labeled',
      'issues.labeled',
      'issues.opened',
      'issues.opened',
      'issues.reopened',
      'issues.transferred',
      'issues.typed',
      'issues.unassigned',
      'issues.unlabeled',
      'issues.unlabeled',
      'issues.untyped',
      'label.created',
      'label.deleted',
      'label.edited',
      'repository.renamed',
    ]);
    for (const item of received) {
      const payload = payloadOf(item);
      const name = `${String(item.headers['x-github-event'])}-${payload.action ?? ''}`.replaceAll(
        '_',
        '-',
      );
      expect({ name, problems: problemsOfPayload(name, payload) }).toEqual({ name, problems: [] });
    }
  });

  test('an edit carries the whole old text', async () => {
    const { tracker, received } = await openHooked();
    tracker.createIssue({ title: 'A', body: 'old' });
    tracker.editIssue(1, { title: 'B', body: 'new' });
    await tracker.hooks.settled();
    const edited = received.map(payloadOf).find(({ action }) => action === 'edited');
    expect(edited).toMatchObject({ changes: { title: { from: 'A' }, body: { from: 'old' } } });
  });

  test('a deleted label is told for each of its issues, none of which gets another date', async () => {
    const { tracker, received } = await openHooked();
    const { updatedAt } = tracker.createIssue({ title: 'A', labels: ['Hot'], createdAt: 0 });
    tracker.createIssue({ title: 'B', labels: ['hot'], state: 'closed' });
    tracker.createIssue({ title: 'C' });
    tracker.createIssue({ title: 'D', labels: ['hot'], isPullRequest: true });
    await tracker.hooks.settled();
    received.length = 0;
    await send(tracker, `DELETE ${REPO}/labels/hot`);
    await tracker.hooks.settled();
    const told = received.map(payloadOf).map(({ action, issue, label }) => ({
      action,
      number: (issue as { number?: number } | undefined)?.number,
      label: (label as unknown as { name: string }).name,
    }));
    expect(told).toHaveLength(3);
    expect(told).toEqual(
      expect.arrayContaining([
        { action: 'unlabeled', number: 1, label: 'Hot' },
        { action: 'unlabeled', number: 2, label: 'Hot' },
        { action: 'deleted', number: undefined, label: 'Hot' },
      ]),
    );
    expect(tracker.readIssue(1)).toMatchObject({ labels: [], updatedAt });
  });

  test.each([
    ['completed', 'closed', 'completed'],
    ['not_planned', 'closed', 'not_planned'],
    ['started', 'open', null],
    ['something-new', 'open', null],
  ])('a status of the category %s leaves it %s, told once', async (category, state, reason) => {
    const { tracker, received } = await openHooked();
    tracker.createIssue({ title: 'A' });
    await tracker.hooks.settled();
    received.length = 0;
    tracker.editIssue(1, { status: { name: 'Next', category } });
    await tracker.hooks.settled();
    expect(received.map(payloadOf)).toMatchObject([
      {
        action: 'status_changed',
        issue: { state, state_reason: reason, status: { name: 'Next', category } },
        changes: { status: { from: null }, ...(state === 'closed' && { state: { from: 'open' } }) },
      },
    ]);
  });

  test('pull requests are told to nobody who asked for issues', async () => {
    const { tracker, received } = await openHooked();
    tracker.createIssue({ title: 'PR', isPullRequest: true });
    tracker.setState(1, 'closed');
    await tracker.hooks.settled();
    expect(received).toEqual([]);
  });

  test('seeding tells nobody', async () => {
    const { tracker, received } = await openHooked();
    tracker.seedIssues([{ title: 'A' }]);
    await tracker.hooks.settled();
    expect(received).toEqual([]);
  });
});

describe('delivery', () => {
  test('a new hook gets a ping', async () => {
    const { url, received } = await openReceiver();
    const tracker = await openTracker({ webhooks: [{ url, secret: SECRET }] });
    await tracker.hooks.settled();
    expect(received).toHaveLength(1);
    expect(received[0]?.headers['x-github-event']).toBe('ping');
    expect(problemsOfPayload('ping', JSON.parse(received[0]?.body ?? ''))).toEqual([]);
  });

  test('is signed the way @octokit/webhooks verifies it, under a fresh GUID each', async () => {
    const { tracker, received } = await openHooked();
    tracker.createIssue({ title: 'Grüße 👋', body: 'a\r\nb' });
    tracker.createIssue({ title: 'B' });
    await tracker.hooks.settled();
    const webhooks = new Webhooks({ secret: SECRET });
    for (const { headers, body } of received) {
      expect(await webhooks.verify(body, String(headers['x-hub-signature-256']))).toBe(true);
      expect(headers['x-hub-signature']).toMatch(/^sha1=[0-9a-f]{40}$/);
      expect(headers['user-agent']).toMatch(/^GitHub-Hookshot\//);
    }
    expect(new Set(received.map(({ headers }) => headers['x-github-delivery'])).size).toBe(2);
  });

  test('is tried once; a redelivery has the old GUID and the old bytes', async () => {
    const { tracker, received, answerWith } = await openHooked();
    answerWith(500);
    tracker.createIssue({ title: 'A' });
    await tracker.hooks.settled();
    const [delivery] = tracker.hooks.deliveries.slice(-1);
    expect(delivery?.statuses).toEqual([500]);
    answerWith(202);
    tracker.setState(1, 'closed');
    await tracker.hooks.redeliver(delivery?.guid ?? '');
    await tracker.hooks.settled();
    expect(delivery?.statuses).toEqual([500, 202]);
    const same = received.filter(({ headers }) => headers['x-github-delivery'] === delivery?.guid);
    expect(same).toHaveLength(2);
    expect(same[0]?.body).toBe(same[1]?.body);
  });

  test('can be kept back and sent in reverse', async () => {
    const { tracker, received } = await openHooked();
    tracker.hooks.hold();
    tracker.createIssue({ title: 'A' });
    tracker.setState(1, 'closed');
    expect(received).toEqual([]);
    await tracker.hooks.release('reverse');
    expect(namesOf(received)).toEqual(['issues.closed', 'issues.opened']);
  });

  test('can be lost', async () => {
    const { tracker, received } = await openHooked();
    tracker.hooks.drop(1);
    tracker.createIssue({ title: 'A' });
    tracker.setState(1, 'closed');
    await tracker.hooks.settled();
    expect(namesOf(received)).toEqual(['issues.closed']);
  });

  test('a late one does not leave after close', async () => {
    const { tracker, received } = await openHooked();
    tracker.hooks.delay(60_000);
    tracker.createIssue({ title: 'A' });
    await tracker.close();
    expect(received).toEqual([]);
    expect(tracker.hooks.deliveries.at(-1)?.statuses).toEqual([0]);
  });

  test('a write over the API is told as well, and close waits for it', async () => {
    const receiver = await openReceiver();
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    tracker.addWebhook(receiver.url, SECRET);
    await send(tracker, `PATCH ${REPO}/issues/1`, { body: { state: 'closed' } });
    await tracker.close();
    expect(namesOf(receiver.received).sort()).toEqual(['issues.closed', 'ping.']);
  });
});

describe('the API of webhooks', () => {
  test('lists hooks with masked secrets, and deliveries latest first, for administrators', async () => {
    const tracker = await openTracker();
    const { url, answerWith } = await openReceiver();
    tracker.hooks.add({ url, secret: SECRET, events: ['issues'] });
    tracker.hooks.add({ url, secret: '', contentType: 'form', isActive: false });
    await tracker.hooks.settled();
    answerWith(500);
    tracker.createIssue({ title: 'A' });
    await tracker.hooks.settled();
    const { data: hooks } = await send(tracker, `GET ${REPO}/hooks`);
    expect(hooks).toMatchObject([
      {
        active: true,
        events: ['issues'],
        config: { content_type: 'json', secret: '********', url },
      },
      { active: false, config: { content_type: 'form', url } },
    ]);
    expect(JSON.stringify(hooks)).not.toContain(SECRET);
    const [first, second] = hooks as { id: number }[];
    const path = `GET ${REPO}/hooks/${first?.id}/deliveries`;
    const { data: deliveries } = await send(tracker, path);
    expect(deliveries).toMatchObject([
      { event: 'issues', action: 'opened', status_code: 500, redelivery: false },
      { event: 'ping', action: null, status: 'OK', status_code: 202 },
    ]);
    expect((await send(tracker, `${path}?per_page=1`)).data).toHaveLength(1);
    const quiet = await send(tracker, `GET ${REPO}/hooks/${second?.id}/deliveries`);
    expect(quiet.data).toMatchObject([{ event: 'ping' }]);
  });

  test('shows nothing to those who may not administer', async () => {
    const tracker = await openTracker();
    for (const token of ['read-token', 'write-token'])
      expect((await send(tracker, `GET ${REPO}/hooks`, { token })).status).toBe(404);
  });

  test('a form is signed as it is sent, and without a secret nothing is signed', async () => {
    const tracker = await openTracker();
    const { url, received } = await openReceiver();
    tracker.hooks.add({ url, secret: SECRET, contentType: 'form' });
    tracker.hooks.add({ url, secret: '' });
    await tracker.hooks.settled();
    const form = received.find(({ body }) => body.startsWith('payload='));
    expect(form?.headers['x-hub-signature-256']).toBe(
      `sha256=${createHmac('sha256', SECRET)
        .update(form?.body ?? '')
        .digest('hex')}`,
    );
    const unsigned = received.find(({ body }) => body.startsWith('{'));
    expect(unsigned?.headers).not.toHaveProperty('x-hub-signature-256');
  });
});
