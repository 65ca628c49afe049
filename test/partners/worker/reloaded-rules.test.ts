import { expect, test } from 'vitest';
import type { DeletionRules } from '#partners/worker/act/act-on-event.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { openDeletions } from '../../support/deletions/world.ts';
import { eventually } from '../../support/eventually.ts';
import { bytesInFiles } from '../../support/stores.ts';

test('an event keeps the rules that it began with, and the next one takes the new ones', async () => {
  let deleted = 'gone';
  const rules = (): DeletionRules => ({
    labels: { approved: 'approved', deleted },
    retryMs: [20, 20],
  });
  const world = await openDeletions({ worker: { rules } });
  const labelsOf = (number: number) =>
    world.tracker.readIssue(number)?.labels.map(({ name }) => name);
  const issue = () => ({ ...leadIssue({ email: 'ada@example.org' }), labels: ['approved'] });
  const [one, two] = [world.tracker.createIssue(issue()), world.tracker.createIssue(issue())];
  await world.start();

  const gate = world.tracker.hold({ path: '/issues/\\d+$', method: 'PATCH' });
  const first = await world.send({ email: 'ada@example.org' });
  await gate.arrived();
  deleted = 'erased';
  gate.open();
  const { events } = await world.settled(first);
  expect(events).toMatchObject([{ outcome: 'DONE', attempts: 1 }]);
  expect([labelsOf(one.number), labelsOf(two.number)]).toEqual([['gone'], ['gone']]);

  const third = world.tracker.createIssue(issue());
  await world.settled(await world.send({ leadId: String(third.number) }));
  expect(labelsOf(third.number)).toEqual(['erased']);
});

test('an event whose rule is gone is IGNORED, and its content is in no file soon', async () => {
  const rule = { type: 'lead.qualified', addLabels: ['qualified'] };
  const before = await openDeletions({ events: { 'crm-one': [rule] } });
  const event = { eventType: rule.type, email: 'ada@example.org' };
  const id = await before.send(event, 'crm-one', 'events');
  const { database } = before;
  const row = await database.get<{ payload: Buffer }>('SELECT payload FROM event');
  const payload = row?.payload.toString('latin1') ?? '';
  expect(bytesInFiles(database)).toContain(payload);
  await before.stop();

  const world = await openDeletions({ of: before });
  await world.start();
  expect((await world.settled(id)).events).toMatchObject([{ outcome: 'IGNORED' }]);
  await eventually(() => expect(bytesInFiles(database)).not.toContain(payload));
});
