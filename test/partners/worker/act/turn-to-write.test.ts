/** Writes wait for their turn, and people go on with the issue meanwhile. */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { actOnLead, type LeadWriter } from '#partners/worker/act/act-on-lead.ts';
import { LeaseLost } from '#partners/worker/held-leads.ts';
import type { Action } from '#partners/partner.ts';
import { type Clock, HOUR, systemClock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { leadIssue, noComment, WRITER } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';

const depsOf = (world: DeletionWorld): LeadWriter => ({
  editor: world.editor,
  labels: { approved: 'approved', deleted: 'deleted-by-partner' },
  pacer: { noteWrite: () => undefined },
  refusals: { noteSuccess: () => undefined },
  isListed: async () => false,
  missingLooksMs: [],
  replicaLagMs: 0,
  clock: systemClock,
  log: silentLog,
});

/** Acts on a lead to which people add a label at every turn. */
async function actWhilePeopleWork(world: DeletionWorld, actions: readonly Action[]) {
  const { number } = world.tracker.createIssue(leadIssue());
  let turns = 0;
  const { lead } = await actOnLead(depsOf(world), {
    receiptId: 'r',
    isLastTry: false,
    actions,
    lead: { number, state: 'open' },
    keep: async () => undefined,
    ownComment: noComment,
    turn: async () => {
      turns += 1;
      world.tracker.relabel(number, { add: [`set-while-waiting-${turns}`] });
    },
  });
  const issue = world.tracker.readIssue(number);
  return { lead, labels: issue?.labels.map(({ name }) => name), turns, issue };
}

test.each<[string, readonly Action[]]>([
  ['a relabel', ['relabel', 'close']],
  ['a relabel after a deletion that is not permitted', ['delete', 'relabel']],
])('what people set while %s waited stays', async (_what, actions) => {
  const world = await openDeletions({ adminToken: WRITER });
  const { lead, labels, turns } = await actWhilePeopleWork(world, actions);
  expect(lead?.state).toBe('done');
  expect(labels).toEqual(
    expect.arrayContaining(['deleted-by-partner', `set-while-waiting-${turns}`]),
  );
  expect(labels).not.toContain('approved');
});

test('an edit that goes without a refused reason waits for a turn of its own, and reads anew', async () => {
  const world = await openDeletions();
  const errors = [{ resource: 'Issue', field: 'state_reason', code: 'invalid' }];
  world.tracker.fault({ kind: 'status', status: 422, method: 'PATCH', json: { errors } });
  const { lead, labels, turns, issue } = await actWhilePeopleWork(world, ['relabel', 'close']);
  expect(lead?.state).toBe('done');
  expect(issue?.stateReason).toBe('completed'); // the tracker's own
  expect(turns).toBe(2);
  expect(labels?.toSorted()).toEqual([
    'deleted-by-partner',
    'eu',
    'set-while-waiting-1',
    'set-while-waiting-2',
  ]);
});

test('a lead that an operator gives back while its write waits is not written', async () => {
  const writeIntervalMs = 2 * HOUR;
  // Nothing else waits so long, and less than a day.
  const isTurn = (ms: number): boolean => ms > HOUR && ms <= writeIntervalMs;
  let onTurn = async (): Promise<void> => undefined;
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, options) => (isTurn(ms) ? onTurn() : systemClock.sleep(ms, options)),
  };
  const world = await openDeletions({ clock, worker: { writeIntervalMs } });
  await world.start();
  const first = world.tracker.createIssue(leadIssue()).number;
  const second = world.tracker.createIssue(leadIssue()).number;
  const at = Date.now();
  onTurn = async () => {
    onTurn = async () => undefined;
    await world.claims.release(second, {
      at,
      actor: { kind: 'cli', subject: 'ops' },
    });
  };
  const receipt = await world.settled(await world.send({ email: 'ada@example.com' }));
  expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', note: 'claim-released' });
  expect(world.tracker.readIssue(first)?.state).toBe('closed');
  expect(world.tracker.readIssue(second)?.state).toBe('open');
});

test('whoever takes the work over writes no sooner than the interval after the former could have', async () => {
  const writeIntervalMs = 2 * HOUR;
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    sleep: async (ms, options) => {
      if (ms > HOUR && ms <= writeIntervalMs) aheadMs += ms;
      else await systemClock.sleep(ms, options);
    },
  };
  const former = await openDeletions({ clock, worker: { writeIntervalMs } });
  await former.start();
  const deleteOne = async (world: DeletionWorld): Promise<void> => {
    const { number } = world.tracker.createIssue(leadIssue());
    await world.settled(await world.send({ leadId: String(number) }));
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
  };
  await deleteOne(former);
  const writtenAt = clock.monotonicMs();
  await former.stop();
  const next = await openDeletions({ of: former, clock, worker: { writeIntervalMs } });
  await next.start();
  await deleteOne(next);
  expect(clock.monotonicMs() - writtenAt).toBeGreaterThanOrEqual(writeIntervalMs);
});

test('a comment is looked for after its turn has come, and not written a second time', async () => {
  const world = await openDeletions();
  const { number } = world.tracker.createIssue(leadIssue());
  const task = {
    receiptId: 'r',
    isLastTry: false,
    actions: ['comment'] as const,
    lead: { number, state: 'open' as const },
    keep: async () => undefined,
    ownComment: noComment,
  };
  await actOnLead(depsOf(world), { ...task, turn: async () => undefined });
  const [posted] = world.tracker.readIssue(number)?.comments ?? [];
  const other = world.tracker.createIssue(leadIssue()).number;
  let turns = 0;
  await actOnLead(depsOf(world), {
    ...task,
    lead: { number: other, state: 'open' },
    turn: async () => {
      turns += 1;
      if (turns === 2) world.tracker.addComment(other, posted?.body ?? ''); // the comment's own
    },
  });
  expect(turns).toBe(2);
  expect(world.tracker.readIssue(other)?.comments).toHaveLength(1);
});

test('a comment is not written by who lost the event while looking for it', async () => {
  const world = await openDeletions();
  const { number } = world.tracker.createIssue(leadIssue());
  let turns = 0;
  const acting = actOnLead(depsOf(world), {
    receiptId: 'r',
    isLastTry: false,
    actions: ['comment'],
    lead: { number, state: 'open' },
    keep: async () => undefined,
    ownComment: noComment,
    turn: async () => {
      turns += 1;
      if (turns === 3) throw new LeaseLost(); // before the issue, before the look, before the comment
    },
  });
  await expect(acting).rejects.toThrow(LeaseLost);
  expect(world.tracker.readIssue(number)?.comments).toEqual([]);
});

test('what came of a lead is kept when other work on it goes first half-way', async () => {
  const world = await openDeletions({ adminToken: WRITER });
  const { number } = world.tracker.createIssue(leadIssue());
  const blocked = { kind: 'blocked', retryAt: 5 } as const;
  let turns = 0;
  const { lead, delay } = await actOnLead(depsOf(world), {
    receiptId: 'r',
    isLastTry: false,
    actions: ['delete', 'close', 'comment'],
    lead: { number, state: 'open' },
    keep: async () => undefined,
    ownComment: noComment,
    turn: async () => {
      turns += 1;
      return turns === 4 ? blocked : undefined; // that of the comment
    },
  });
  expect(delay).toEqual(blocked);
  expect(lead).toMatchObject({ state: 'open', removal: 'impossible' });
  expect(world.tracker.readIssue(number)).toMatchObject({ state: 'closed', comments: [] });
});

test('from the turn on at which the event holds the lead no more, nothing is written to it', async () => {
  const world = await openDeletions({ adminToken: WRITER });
  const fields = { Notes: 'Ada prefers the telephone', Size: 3 };
  const actUntil = async (lastTurn: number) => {
    const { number } = world.tracker.createIssue({ ...leadIssue(), fields });
    const read = () => structuredClone(world.tracker.readIssue(number));
    let turns = 0;
    let before: unknown;
    const result = await actOnLead(depsOf(world), {
      receiptId: 'r',
      isLastTry: false,
      actions: ['delete', 'relabel', 'close', 'redact', 'comment'],
      lead: { number, state: 'open' },
      keep: async () => undefined,
      ownComment: noComment,
      turn: async () => {
        turns += 1;
        before = read();
        return turns < lastTurn ? undefined : { kind: 'not-held' };
      },
    });
    return { result, turns, isUntouched: isDeepStrictEqual(read(), before) };
  };
  // Those of the look, the removal, the edit, two fields, the look for a comment, and the comment.
  for (let turn = 1; turn <= 7; turn += 1)
    expect(await actUntil(turn)).toEqual({ result: {}, turns: turn, isUntouched: true });
  expect((await actUntil(8)).result.lead?.state).toBe('done');
});
