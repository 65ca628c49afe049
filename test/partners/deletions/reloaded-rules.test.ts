import { expect, test } from 'vitest';
import type { DeletionRules } from '#partners/deletions/act-on-event.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';

test('an event keeps the rules that it began with, and the next one takes the new ones', async () => {
  let deleted = 'gone';
  const rules = (): DeletionRules => ({
    labels: { approved: 'approved', deleted },
    retryMs: [20, 20],
  });
  const desk = await openDesk({ worker: { rules } });
  const labelsOf = (number: number) =>
    desk.tracker.readIssue(number)?.labels.map(({ name }) => name);
  const issue = () => ({ ...leadIssue({ email: 'ada@example.org' }), labels: ['approved'] });
  const [one, two] = [desk.tracker.createIssue(issue()), desk.tracker.createIssue(issue())];
  await desk.start();

  const gate = desk.tracker.hold({ path: '/issues/\\d+$', method: 'PATCH' });
  const first = await desk.send({ email: 'ada@example.org' });
  await gate.arrived();
  deleted = 'erased';
  gate.open();
  const { events } = await desk.settled(first);
  expect(events).toMatchObject([{ outcome: 'DONE', attempts: 1 }]);
  expect([labelsOf(one.number), labelsOf(two.number)]).toEqual([['gone'], ['gone']]);

  const third = desk.tracker.createIssue(issue());
  await desk.settled(await desk.send({ leadId: String(third.number) }));
  expect(labelsOf(third.number)).toEqual(['erased']);
});
