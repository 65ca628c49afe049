/** Remains of a person on an issue after a deletion, written down when it acted: no more than it saw, and no less. */
import { describe, expect, test } from 'vitest';
import type { Action } from '#partners/partner.ts';
import { HOUR } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { commentText } from '#partners/worker/act/issue-edit.ts';
import type { IssueEditor } from '#partners/worker/act/issue-editor.ts';
import { actOnLead } from '#partners/worker/act/act-on-lead.ts';
import { ADMIN, leadIssue, noComment } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';

const EVERYTHING = {
  fields: { Notes: 'Ada prefers the telephone', Region: { option: 'EMEA' } },
  subIssues: 2,
};

type Lead = ReturnType<typeof leadIssue> & Partial<typeof EVERYTHING>;

async function runningWorld(options: Parameters<typeof openDeletions>[0]): Promise<DeletionWorld> {
  const world = await openDeletions(options);
  await world.start();
  return world;
}

/** Receipt of the deletion of one lead, with a comment of somebody and an earlier text where `isUsed`. */
async function deleteOne(world: DeletionWorld, lead: Lead, { isUsed = false } = {}) {
  const createdAt = Date.now() - (isUsed ? HOUR : 0);
  const { number } = world.tracker.createIssue({ ...lead, createdAt });
  if (isUsed) {
    world.tracker.addComment(number, 'I called Ada');
    world.tracker.editIssue(number, { body: `${leadIssue().body}\nShe prefers mornings.` });
  }
  return (await world.settled(await world.send({ leadId: String(number) }))).events[0];
}

describe('of an issue that has everything', () => {
  test.each<[actions: Action[], remains: readonly string[]]>([
    [
      ['relabel', 'close'],
      ['text', 'history', 'comments', 'fields', 'sub-issues'],
    ],
    [['comment'], ['text', 'history', 'comments', 'fields', 'sub-issues']],
    [
      ['relabel', 'close', 'redact'],
      ['history', 'comments', 'sub-issues'],
    ],
    [
      ['comment', 'redact'],
      ['history', 'comments', 'sub-issues'],
    ],
    [['delete'], ['sub-issues']],
  ])('%j leaves %j', async (actions, remains) => {
    const auth = actions.includes('delete') ? { adminToken: ADMIN } : {};
    const world = await runningWorld({ actions, ...auth });
    const lead = { ...leadIssue(), ...EVERYTHING };
    const event = await deleteOne(world, lead, { isUsed: true });
    expect(event).toMatchObject({ outcome: 'DONE', remains });
  });

  test('a deletion that is not permitted leaves what the other actions leave', async () => {
    const world = await runningWorld({ actions: ['close', 'delete'] });
    const lead = { ...leadIssue(), ...EVERYTHING };
    const event = await deleteOne(world, lead, { isUsed: true });
    const remains = ['text', 'history', 'comments', 'fields', 'sub-issues'];
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'impossible', remains });
  });
});

describe('of an issue that nobody touched', () => {
  test.each<[actions: Action[], remains: readonly string[] | undefined]>([
    [['relabel', 'close'], ['text']],
    [['comment'], ['text']],
    [['comment', 'redact'], ['history']],
    [['delete'], undefined],
  ])('%j leaves %j', async (actions, remains) => {
    const auth = actions.includes('delete') ? { adminToken: ADMIN } : {};
    const world = await runningWorld({ actions, ...auth });
    const event = await deleteOne(world, leadIssue());
    expect(event?.outcome).toBe('DONE');
    expect(event?.remains).toEqual(remains);
  });
});

test('our own comment is none of a person’s, also when its answer was lost', async () => {
  const world = await runningWorld({ actions: ['comment', 'redact'] });
  world.tracker.fault({ kind: 'reset', method: 'POST', path: 'comments$', when: 'after' });
  expect(await deleteOne(world, leadIssue())).toMatchObject({
    outcome: 'DONE',
    remains: ['history'],
  });
});

describe('while replicas of the tracker lag', () => {
  const replicaLagMs = HOUR;

  /** An issue with one comment by its count, which is acted on where our own comment was written before. */
  async function worldOfOne(comments: readonly string[], replaced: Partial<IssueEditor>) {
    const { tracker, editor, clock } = await openDeletions();
    const { number } = tracker.createIssue(leadIssue());
    for (const comment of comments) tracker.addComment(number, comment);
    const triedAt = clock.now();
    const act = (now: number) =>
      actOnLead(
        {
          editor: {
            ...editor,
            read: async (one) => {
              const read = await editor.read(one);
              return read.kind === 'issue'
                ? { ...read, issue: { ...read.issue, comments: 1 } }
                : read;
            },
            ...replaced,
          },
          labels: { approved: 'approved', deleted: 'deleted-by-partner' },
          pacer: { noteWrite: () => undefined },
          refusals: { noteSuccess: () => undefined },
          isListed: async () => false,
          missingLooksMs: [],
          replicaLagMs,
          clock: { now: () => now },
          log: silentLog,
        },
        {
          receiptId: 'r',
          isLastTry: false,
          actions: ['comment'],
          lead: { number, state: 'open' },
          keep: async () => undefined,
          ownComment: { ...noComment, read: async () => ({ triedAt, isWritten: true }) },
          turn: async () => undefined,
        },
      );
    return { act, triedAt };
  }

  test('a comment that is counted and not listed yet may be our own: that is looked at again', async () => {
    const { act, triedAt } = await worldOfOne([], { findComment: async () => ({ kind: 'none' }) });
    const retryAt = triedAt + replicaLagMs;
    expect((await act(triedAt)).delay).toEqual({ kind: 'blocked', retryAt });
    const { lead } = await act(retryAt);
    expect(lead).toMatchObject({ state: 'done', remains: ['text', 'comments'] });
  });

  test.each([
    [[], ['text']],
    [['I called Ada'], ['text', 'comments']],
  ])(
    'one that is counted is somebody’s where others are listed beside ours: %j',
    async (others, remains) => {
      const { act, triedAt } = await worldOfOne([...others, commentText('r')], {});
      expect((await act(triedAt)).lead).toMatchObject({ state: 'done', remains });
    },
  );
});

test('a deletion that failed says what it has seen to be left, and not what it reached', async () => {
  const world = await runningWorld({ actions: ['redact', 'comment'] });
  world.tracker.fault({
    kind: 'status',
    status: 422,
    method: 'POST',
    path: 'comments$',
    count: 99,
  });
  const event = await deleteOne(world, leadIssue());
  expect(event).toMatchObject({ outcome: 'FAILED', remains: ['history'] });
});

test('of a lead that could never be read nothing is said', async () => {
  const world = await runningWorld({ actions: ['redact'], worker: { retryMs: [] } });
  world.tracker.fault({ kind: 'status', status: 500, path: '/issues/1$', count: 99 });
  const event = await deleteOne(world, leadIssue());
  expect(event?.outcome).toBe('FAILED');
  expect(event).not.toHaveProperty('remains');
});
