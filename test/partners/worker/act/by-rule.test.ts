import { describe, expect, test } from 'vitest';
import type { EventRule } from '#partners/partner.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import {
  type DeletionOptions,
  type DeletionWorld,
  openDeletions,
} from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';

const qualified: EventRule = {
  type: 'lead.qualified',
  addLabels: ['qualified'],
  removeLabels: ['eu'],
  assign: ['octo-operator'],
  close: true,
  comment: '{partner}: {type}',
};

async function openWorld(rules: readonly EventRule[] = [qualified], options?: DeletionOptions) {
  const world = await openDeletions({ events: { 'crm-one': rules, 'crm-two': rules }, ...options });
  await world.start();
  return world;
}

const sendEvent = (world: DeletionWorld, event: object, from?: string) =>
  world.send({ eventType: 'lead.qualified', ...event }, from, 'events');

const stateOf = (world: DeletionWorld, number: number) => {
  const issue = world.tracker.readIssue(number);
  return {
    labels: issue?.labels.map(({ name }) => name).sort(),
    state: issue?.state,
    comments: issue?.comments.length,
  };
};

const isClaimed = async (world: DeletionWorld, number: number): Promise<boolean> =>
  (await world.claims.current()).has(number);

describe('an event with a rule', () => {
  test('changes the issue by one read and one write, and claims nothing', async () => {
    const world = await openWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    const id = await sendEvent(world, { email: 'ada@example.com' });
    const [event] = (await world.settled(id)).events;
    expect(event).toMatchObject({ outcome: 'DONE', leadIds: [String(number)], attempts: 1 });
    expect(stateOf(world, number)).toEqual({
      labels: ['approved', 'qualified'],
      state: 'closed',
      comments: 1,
    });
    const issue = world.tracker.readIssue(number);
    expect(issue?.stateReason).toBe('completed');
    expect(issue?.assignees.map(({ login }) => login)).toEqual(['octo-operator']);
    expect(issue?.comments[0]?.body).toMatch(/^crm-one: lead.qualified\n/);
    const path = new RegExp(`/issues/${number}$`);
    expect(world.tracker.calls.count({ method: 'GET', path })).toBe(1);
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(1);
    expect(await isClaimed(world, number)).toBe(false);
  });

  test('takes every lead of the person, and of nobody else', async () => {
    const world = await openWorld();
    const [one, two, other] = ['ada@example.com', 'Ada <ADA@example.com>', 'eve@example.com'].map(
      (email) => world.tracker.createIssue(leadIssue({ email })).number,
    );
    const receipt = await world.settled(await sendEvent(world, { email: 'ada@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: [one, two].map(String) });
    expect(stateOf(world, other ?? 0)).toMatchObject({ state: 'open', comments: 0 });
  });

  test('of nobody that is known ends UNMATCHED with no leads, and its payload is kept', async () => {
    const world = await openWorld();
    const receipt = await world.settled(await sendEvent(world, { leadId: '999' }));
    expect(receipt.events[0]).toMatchObject({
      outcome: 'UNMATCHED',
      leadIds: [],
      lastError: 'no-issue',
      attempts: 3,
      isReplayable: true,
    });
  });

  test('comments once when the worker ends between the write and the end of the event', async () => {
    const world = await openWorld([qualified], { requestTimeoutMs: 1500 });
    const { number } = world.tracker.createIssue(leadIssue());
    const barrier = world.tracker.hold({ method: 'POST', path: '/comments$' });
    const id = await sendEvent(world, { leadId: String(number) });
    await barrier.arrived();
    await world.stop();
    expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
    barrier.open();

    const { tracker, database } = world;
    const next = await openWorld([qualified], { of: { tracker, database } });
    expect((await next.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(stateOf(next, number)).toMatchObject({ comments: 1, labels: ['approved', 'qualified'] });
    expect(tracker.calls.count({ method: 'PATCH' })).toBe(1);
  });

  test('comments once for each event of a batch about one lead', async () => {
    const world = await openWorld([{ type: '*', comment: 'once' }]);
    const { number } = world.tracker.createIssue(leadIssue());
    const leadId = String(number);
    const id = await world.send(
      [1, 2].map((eventId) => ({ eventId, leadId })),
      'crm-one',
      'events',
    );
    expect((await world.settled(id)).status).toBe('PROCESSED');
    expect(stateOf(world, number).comments).toBe(2);
  });
});

describe('a lead that a deletion has claimed', () => {
  test('is left alone: the event is IGNORED, without a call about the issue', async () => {
    const world = await openWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    await world.settled(await world.send({ leadId: String(number) }));
    const before = world.tracker.calls.count({ path: new RegExp(`/issues/${number}`) });
    const receipt = await world.settled(await sendEvent(world, { leadId: String(number) }));
    expect(receipt).toMatchObject({
      status: 'PROCESSED',
      events: [{ outcome: 'IGNORED', lastError: 'lead-claimed', isReplayable: false }],
    });
    expect(world.tracker.calls.count({ path: new RegExp(`/issues/${number}`) })).toBe(before);
    expect(stateOf(world, number)).toMatchObject({ labels: ['deleted-by-partner', 'eu'] });
  });

  test('is left alone also when the deletion came between two attempts', async () => {
    const world = await openWorld([{ type: '*', addLabels: ['won'] }], {
      worker: { retryMs: [1500, 1500] },
    });
    const { number } = world.tracker.createIssue(leadIssue());
    world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
    const id = await sendEvent(world, { leadId: String(number) });
    await eventually(async () => {
      expect((await world.read(id)).events[0]).toMatchObject({ attempts: 1 });
    });
    await world.settled(await world.send({ leadId: String(number) }));
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'IGNORED' });
    expect(stateOf(world, number).labels).not.toContain('won');
  });

  test('does not keep an event from the other leads of the person', async () => {
    const world = await openWorld([{ type: '*', addLabels: ['won'] }]);
    const [one, two] = [1, 2].map(() => world.tracker.createIssue(leadIssue()).number);
    await world.settled(await world.send({ leadId: String(one) }));
    const receipt = await world.settled(await sendEvent(world, { email: 'ada@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE' });
    expect(stateOf(world, one ?? 0).labels).not.toContain('won');
    expect(stateOf(world, two ?? 0).labels).toContain('won');
  });
});

describe('events about one lead', () => {
  const rules: Record<string, readonly EventRule[]> = {
    'crm-one': [{ type: '*', addLabels: ['stage'], close: true }],
    'crm-two': [{ type: '*', removeLabels: ['stage'], reopen: true }],
  };

  test('of two partners act in the order received, also while the first waits for a retry', async () => {
    const world = await openDeletions({ events: rules, worker: { retryMs: [800, 800, 800] } });
    const { number } = world.tracker.createIssue(leadIssue({ externalIds: { 'crm-two': '7' } }));
    await world.start();
    world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
    const first = await world.send({ leadId: String(number) }, 'crm-one', 'events');
    const second = await world.send({ objectId: 7 }, 'crm-two', 'events');
    await eventually(async () => {
      expect((await world.read(first)).events[0]).toMatchObject({ attempts: 1 });
    });
    const late = await world.settled(second);
    const early = await world.read(first);
    expect(early.events[0]).toMatchObject({ outcome: 'DONE', attempts: 2 });
    expect(late.events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(stateOf(world, number)).toMatchObject({ state: 'open', labels: ['approved', 'eu'] });
    expect(late.events[0]?.completedAt).toBeGreaterThanOrEqual(early.events[0]?.completedAt ?? 0);
  });

  test('of other leads do not wait for it', async () => {
    const world = await openDeletions({ events: rules, worker: { retryMs: [60_000] } });
    const [one, two] = [1, 2].map(() => world.tracker.createIssue(leadIssue()).number);
    await world.start();
    world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
    const first = await world.send({ leadId: String(one) }, 'crm-one', 'events');
    await eventually(async () => {
      expect((await world.read(first)).events[0]).toMatchObject({ attempts: 1 });
    });
    const other = await world.settled(
      await world.send({ leadId: String(two) }, 'crm-one', 'events'),
    );
    expect(other.events[0]).toMatchObject({ outcome: 'DONE' });
  });
});
