/** An issue that is not found by its number: gone, or only not there yet. */
import { expect, test } from 'vitest';
import { actOnLead, type LeadWriter } from '#partners/worker/act/act-on-lead.ts';
import type { IssueEditor } from '#partners/worker/act/issue-editor.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { leadIssue, noComment } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';
import { nextDueAt } from '#partners/worker/lease-events.ts';

const labels = { approved: 'approved', deleted: 'deleted-by-partner' };

async function runningWorld(options?: Parameters<typeof openDeletions>[0]): Promise<DeletionWorld> {
  const world = await openDeletions(options);
  await world.start();
  return world;
}

/** A known lead whose number the tracker does not find, for a while or for good. */
async function leadNotFound(world: DeletionWorld, count = 1000): Promise<number> {
  const { number } = world.tracker.createIssue(leadIssue());
  await world.filler.catchUp();
  const path = `/issues/${number}$`;
  world.tracker.fault({ kind: 'status', status: 404, method: 'GET', path, count });
  return number;
}

const readsOf = (world: DeletionWorld, number: number) =>
  world.tracker.calls.count({ method: 'GET', path: new RegExp(`/issues/${number}$`) });

test('one that the list still shows is never done, however often it is not found', async () => {
  const world = await runningWorld();
  const number = await leadNotFound(world);
  const { events } = await world.settled(await world.send({ leadId: number }));
  expect(events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'not-found', attempts: 7 });
  expect((await world.claims.current()).has(number)).toBe(true);
});

test('one that the list shows again in time is acted on after all', async () => {
  const world = await runningWorld({ worker: { timing: { missingLooksMs: [1] } } });
  const number = await leadNotFound(world, 4);
  const { events } = await world.settled(await world.send({ leadId: number }));
  expect(events[0]).toMatchObject({ outcome: 'DONE', attempts: 4 });
  expect(world.tracker.readIssue(number)?.state).toBe('closed');
});

test('one that is listed at an instant that many share is found there', async () => {
  const world = await openDeletions();
  const updatedAt = Date.now() - HOUR;
  world.tracker.seedIssues(
    Array.from({ length: 250 }, () => ({ ...leadIssue(), createdAt: updatedAt, updatedAt })),
  );
  await world.start();
  for (const number of [1, 250]) expect(await world.filler.isListed(number)).toBe(true);
  expect(await world.filler.isListed(251)).toBe(false);
});

test('one that is listed where its last change has moved it is found, though it is claimed', async () => {
  const world = await openDeletions();
  const seed = (hoursAgo: number) => {
    const createdAt = Date.now() - hoursAgo * HOUR;
    return { ...leadIssue(), createdAt, updatedAt: createdAt };
  };
  world.tracker.seedIssues([seed(3), ...Array.from({ length: 120 }, () => seed(2))]);
  await world.start();
  await world.settled(await world.send({ leadId: 1 }));
  world.tracker.editIssue(1, { title: 'Changed after the claim' });
  expect(await world.filler.isListed(1)).toBe(true);
});

test('waits for its last look without spending a try, whatever the schedule of tries', async () => {
  const world = await runningWorld({
    worker: { retryMs: [], timing: { missingLooksMs: [10, HOUR] } },
  });
  const number = await leadNotFound(world);
  const id = await world.send({ leadId: number });
  await eventually(() => expect(readsOf(world, number)).toBe(2));
  expect((await world.read(id)).events[0]).toMatchObject({
    outcome: 'PENDING',
    attempts: 0,
    lastError: 'not-found',
  });
});

test('is not taken for gone while the list cannot be read', async () => {
  const world = await runningWorld({ worker: { timing: { missingLooksMs: [1] } } });
  const { number } = world.tracker.createIssue(leadIssue());
  await world.filler.catchUp();
  world.tracker.deleteIssue(number, { hidden: true });
  world.tracker.fault({ kind: 'status', status: 502, path: '/issues$', count: 1000, skip: 1 });
  const id = await world.send({ leadId: number });
  await eventually(() => expect(readsOf(world, number)).toBe(2));
  await eventually(async () =>
    expect((await world.read(id)).events[0]?.lastError).toBe('not-found'),
  );
  // Asked again a minute later, which is no retry.
  await eventually(async () =>
    expect(await nextDueAt(world.work.db, 'act')).toBeGreaterThan(Date.now() + MINUTE / 2),
  );
  expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
});

test('that is found once more is missing anew when it is not found again', async () => {
  const editor: Partial<IssueEditor> = {
    read: async (number) => ({
      kind: 'issue',
      issue: {
        number,
        nodeId: 'n',
        title: 't',
        body: '',
        state: 'open',
        labels: [],
        assignees: [],
      },
    }),
    edit: async () => ({ kind: 'transient', code: 'tracker-server' }),
  };
  const deps = { editor, pacer: { noteWrite: () => undefined }, labels } as Partial<LeadWriter>;
  const { lead } = await actOnLead(deps as LeadWriter, {
    receiptId: 'r',
    isLastTry: false,
    actions: ['close'],
    lead: { number: 1, state: 'open', missingSince: 1 },
    turn: async () => undefined,
    keep: async () => undefined,
    ownComment: noComment,
  });
  expect(lead).toEqual({ number: 1, state: 'open', remains: ['text'] });
});

test('keeps no other lead of the person waiting', async () => {
  const world = await runningWorld({ worker: { timing: { missingLooksMs: [HOUR] } } });
  const missing = await leadNotFound(world);
  const found = world.tracker.createIssue(leadIssue()).number;
  const id = await world.send({ email: 'ada@example.com' });
  await eventually(() => expect(world.tracker.readIssue(found)?.state).toBe('closed'));
  expect((await world.read(id)).events[0]).toMatchObject({
    outcome: 'PENDING',
    leadIds: [String(missing), String(found)],
  });
});
