/** Writes wait for their turn, and people go on with the issue meanwhile. */
import { expect, test } from 'vitest';
import { actOnLead } from '#partners/deletions/act-on-lead.ts';
import type { LeadDeps } from '#partners/deletions/act-on-lead.ts';
import type { Action } from '#partners/partner.ts';
import { HOUR, MINUTE, systemClock } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { leadIssue, openDesk, WRITER } from '../../support/deletion-desk.ts';
import type { Desk } from '../../support/deletion-desk.ts';

const depsOf = (desk: Desk): LeadDeps => ({
  editor: desk.editor,
  labels: { approved: 'approved', deleted: 'deleted-by-partner' },
  pacer: { noteWrite: () => undefined },
  refusals: { noteSuccess: () => undefined },
  isListed: async () => false,
  missingLooksMs: [],
  clock: systemClock,
  log: silentLog,
});

/** Acts on a lead to which people add a label at every turn. */
async function actWhilePeopleWork(desk: Desk, actions: readonly Action[]) {
  const { number } = desk.tracker.createIssue(leadIssue());
  let turns = 0;
  const { lead } = await actOnLead(depsOf(desk), {
    receiptId: 'r',
    actions,
    lead: { number, state: 'open' },
    keep: async () => undefined,
    turn: async () => {
      turns += 1;
      desk.tracker.relabel(number, { add: [`set-while-waiting-${turns}`] });
    },
  });
  const labels = desk.tracker.readIssue(number)?.labels.map(({ name }) => name);
  return { lead, labels, turns };
}

test.each<[string, readonly Action[]]>([
  ['a relabel', ['relabel', 'close']],
  ['a relabel after a deletion that is not permitted', ['delete', 'relabel']],
])('what people set while %s waited stays', async (_what, actions) => {
  const desk = await openDesk({ adminToken: WRITER });
  const { lead, labels, turns } = await actWhilePeopleWork(desk, actions);
  expect(lead.state).toBe('done');
  expect(labels).toEqual(
    expect.arrayContaining(['deleted-by-partner', `set-while-waiting-${turns}`]),
  );
  expect(labels).not.toContain('approved');
});

test('a lead that an operator gives back while its write waits is not written', async () => {
  const writeIntervalMs = HOUR;
  let onTurn = async (): Promise<void> => undefined;
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, options) => (ms > MINUTE ? onTurn() : systemClock.sleep(ms, options)),
  };
  const desk = await openDesk({ clock, worker: { writeIntervalMs } });
  await desk.start();
  const first = desk.tracker.createIssue(leadIssue()).number;
  const second = desk.tracker.createIssue(leadIssue()).number;
  const at = Date.now();
  onTurn = async () => {
    await desk.claims.release(second, {
      at,
      actor: { kind: 'cli', subject: 'ops' },
      action: 'claim.release',
      subject: `claim/${second}`,
    });
  };
  const receipt = await desk.settled(await desk.send({ email: 'ada@example.com' }));
  expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', note: 'claim-released' });
  expect(desk.tracker.readIssue(first)?.state).toBe('closed');
  expect(desk.tracker.readIssue(second)?.state).toBe('open');
});

test('a comment is looked for after its turn has come, and not written a second time', async () => {
  const desk = await openDesk();
  const { number } = desk.tracker.createIssue(leadIssue());
  const task = {
    receiptId: 'r',
    actions: ['comment'] as const,
    lead: { number, state: 'open' as const },
    keep: async () => undefined,
  };
  await actOnLead(depsOf(desk), { ...task, turn: async () => undefined });
  const [posted] = desk.tracker.readIssue(number)?.comments ?? [];
  const other = desk.tracker.createIssue(leadIssue()).number;
  let turns = 0;
  await actOnLead(depsOf(desk), {
    ...task,
    lead: { number: other, state: 'open' },
    turn: async () => {
      turns += 1;
      if (turns === 2) desk.tracker.addComment(other, posted?.body ?? ''); // the comment's own
    },
  });
  expect(turns).toBe(2);
  expect(desk.tracker.readIssue(other)?.comments).toHaveLength(1);
});
