/** A lead id that is somebody else's: many systems have an id of their own under that name. */
import { expect, test } from 'vitest';
import { leadIssue, openDesk, type Desk } from '../../support/deletion-desk.ts';

async function deskOfTwo() {
  const desk = await openDesk();
  const bob = desk.tracker.createIssue(
    leadIssue({
      email: 'bob@example.com',
      correlationId: 'of-bob',
      externalIds: { 'crm-one': '7' },
    }),
  ).number;
  const ada = desk.tracker.createIssue(leadIssue()).number;
  await desk.start();
  return { desk, bob, ada };
}

const stateOf = (desk: Desk, number: number) => desk.tracker.readIssue(number)?.state;
const isClaimed = async (desk: Desk, number: number) => (await desk.claims.current()).has(number);

test.each([
  ['lead id', 'e-mail', (bob: number) => ({ leadId: bob, email: 'ada@example.com' })],
  ['correlation id', 'e-mail', () => ({ correlationId: 'of-bob', email: 'ada@example.com' })],
  ['lead id', 'external id', (bob: number) => ({ leadId: bob, externalId: '8' })],
])('a %s of another person gives way to the %s', async (_pointer, _person, eventOf) => {
  const { desk, bob, ada } = await deskOfTwo();
  const event = eventOf(bob);
  const receipt = await desk.settled(await desk.send(event));
  const isKnown = 'email' in event;
  expect(receipt.events[0]).toMatchObject({
    outcome: isKnown ? 'DONE' : 'UNMATCHED',
    leadIds: isKnown ? [String(ada)] : [],
    note: 'lead-id-conflict',
  });
  expect(stateOf(desk, bob)).toBe('open');
  expect(await isClaimed(desk, bob)).toBe(false);
  expect(stateOf(desk, ada)).toBe(isKnown ? 'closed' : 'open');
});

test('a lead id with the address of the same person, or of nobody yet, is taken at its word', async () => {
  const { desk, bob } = await deskOfTwo();
  const bare = desk.tracker.createIssue(leadIssue({ email: '_No response_' })).number;
  for (const [leadId, email] of [
    [bob, 'BOB@example.com'],
    [bare, 'ada@example.com'],
  ]) {
    const receipt = await desk.settled(await desk.send({ leadId, email }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(leadId)] });
    expect(receipt.events[0]).not.toHaveProperty('note');
  }
});
