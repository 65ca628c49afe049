import { expect, test } from 'vitest';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';

const ids = { 'crm-two': '4711' };

async function worldWith(body: string): Promise<DeletionWorld> {
  const world = await openDeletions({ privacy: ['redact'] });
  world.tracker.createIssue({ ...leadIssue(), body });
  await world.start();
  return world;
}

const leadIdsOf = async (
  world: DeletionWorld,
  event: object,
  from = 'crm-one',
): Promise<string[]> => {
  const { events } = await world.settled(await world.send(event, from));
  expect(events.map(({ outcome }) => outcome)).toEqual(['DONE']);
  return events.flatMap(({ leadIds }) => leadIds);
};
const byObjectId = (objectId: number) => ({
  subscriptionType: 'contact.deletion',
  eventId: objectId,
  objectId,
});

test.each([
  ['above the form', (body: string) => `Called her.\n\n${body}`],
  ['behind the metadata block', (body: string) => `${body}\nCalled her.`],
])('a note %s costs a lead neither its e-mail nor its external ids', async (_place, edit) => {
  const body = edit(leadIssue({ externalIds: ids }).body);
  expect(await leadIdsOf(await worldWith(body), { email: 'ada@example.com' })).toEqual(['1']);
  expect(await leadIdsOf(await worldWith(body), byObjectId(4711), 'crm-two')).toEqual(['1']);
});

test('a lead is found by the address that somebody corrected, and by the new one', async () => {
  const edit = { body: leadIssue({ email: 'augusta@example.com' }).body };
  for (const email of ['ada@example.com', 'augusta@example.com']) {
    const world = await worldWith(leadIssue({ externalIds: ids }).body);
    world.tracker.editIssue(1, edit);
    expect(await leadIdsOf(world, { email })).toEqual(['1']);
  }
  const world = await worldWith(leadIssue({ externalIds: ids }).body);
  world.tracker.editIssue(1, edit);
  expect(await leadIdsOf(world, byObjectId(4711), 'crm-two')).toEqual(['1']);
});

test('a redacted lead is found by a later deletion', async () => {
  const world = await worldWith(leadIssue({ externalIds: ids }).body);
  const privacy = { ...byObjectId(4711), subscriptionType: 'contact.privacyDeletion' };
  expect(await leadIdsOf(world, privacy, 'crm-two')).toEqual(['1']);
  expect(world.tracker.readIssue(1)?.body).not.toContain('ada@example.com');
  await world.filler.catchUp();
  expect(await leadIdsOf(world, { email: 'ada@example.com' })).toEqual(['1']);
});
