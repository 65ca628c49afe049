/** A lead id that is somebody else's: many systems have an id of their own under that name. */
import { describe, expect, test } from 'vitest';
import { type Clock, HOUR, MINUTE, systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';

async function worldOfTwo() {
  const world = await openDeletions();
  const bob = world.tracker.createIssue(
    leadIssue({
      email: 'bob@example.com',
      correlationId: 'of-bob',
      externalIds: { 'crm-one': '7' },
    }),
  ).number;
  const ada = world.tracker.createIssue(leadIssue()).number;
  await world.start();
  return { world, bob, ada };
}

const stateOf = (world: DeletionWorld, number: number) => world.tracker.readIssue(number)?.state;
const isClaimed = async (world: DeletionWorld, number: number) =>
  (await world.claims.current()).has(number);

test.each([
  ['lead id', 'e-mail', (bob: number) => ({ leadId: bob, email: 'ada@example.com' })],
  ['correlation id', 'e-mail', () => ({ correlationId: 'of-bob', email: 'ada@example.com' })],
  ['lead id', 'external id', (bob: number) => ({ leadId: bob, externalId: '8' })],
])('a %s of another person gives way to the %s', async (_pointer, _person, eventOf) => {
  const { world, bob, ada } = await worldOfTwo();
  const event = eventOf(bob);
  const receipt = await world.settled(await world.send(event));
  const isKnown = 'email' in event;
  expect(receipt.events[0]).toMatchObject({
    outcome: isKnown ? 'DONE' : 'UNMATCHED',
    leadIds: isKnown ? [String(ada)] : [],
    note: 'lead-id-conflict',
  });
  expect(stateOf(world, bob)).toBe('open');
  expect(await isClaimed(world, bob)).toBe(false);
  expect(stateOf(world, ada)).toBe(isKnown ? 'closed' : 'open');
});

test('a lead id with the address of the same person, or of nobody yet, is taken at its word', async () => {
  const { world, bob } = await worldOfTwo();
  const bare = world.tracker.createIssue(leadIssue({ email: '_No response_' })).number;
  const typed = world.tracker.createIssue(leadIssue({ email: 'mailto:eve @example.com.' })).number;
  for (const [leadId, email] of [
    [bob, 'BOB@example.com'],
    [typed, 'eve@example.com'],
    [bare, 'ada@example.com'],
  ]) {
    const receipt = await world.settled(await world.send({ leadId, email }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(leadId)] });
    expect(receipt.events[0]).not.toHaveProperty('note');
  }
});

test('while the directory is read anew by a new rule, a lead of another person is left alone all the same', async () => {
  const { world, bob, ada } = await worldOfTwo();
  await eventually(() => expect(world.filler.status().state).toBe('complete'));
  await world.database.exec('UPDATE directory_key SET rule = rule - 1');
  await world.database.exec('UPDATE directory_state SET completed_at = NULL');
  const id = await world.send({ leadId: bob, email: 'ada@example.com' });
  await eventually(async () => expect(await isClaimed(world, bob)).toBe(false));
  await world.database.exec('UPDATE directory_state SET completed_at = 1');
  expect((await world.settled(id)).events[0]).toMatchObject({
    outcome: 'DONE',
    leadIds: [String(ada)],
    note: 'lead-id-conflict',
  });
  expect(stateOf(world, bob)).toBe('open');
});

describe('a lead id that nobody has yet when it is sent', () => {
  const event = { leadId: 1 };
  const isStranger = {
    outcome: 'UNMATCHED',
    leadIds: [],
    note: 'lead-id-conflict',
  };

  /** The event has found nobody; then a visitor's issue gets its number, `afterMs` later. */
  async function worldWithStranger(afterMs: number) {
    let now = Date.now();
    const clock: Clock = { ...systemClock, now: () => now };
    const move = (ms: number): void => {
      now += ms;
    };
    const world = await openDeletions({
      clock,
      tracker: { clock },
      worker: { timing: { unmatchedWaitsMs: [HOUR, HOUR] } },
    });
    await world.start();
    const id = await world.send(event);
    await expectMisses(world, id, 1);
    expect(await isClaimed(world, 1)).toBe(true);
    move(afterMs);
    expect(world.tracker.createIssue(leadIssue()).number).toBe(1);
    move(HOUR - afterMs);
    await world.wake();
    return { world, id, move };
  }

  const expectMisses = (world: DeletionWorld, id: string, attempts: number) =>
    eventually(async () => expect((await world.read(id)).events[0]).toMatchObject({ attempts }));

  test('leaves the issue alone that gets the number later, and readers see it soon', async () => {
    const { world, id, move } = await worldWithStranger(2 * MINUTE);
    await expectMisses(world, id, 2);
    expect(await isClaimed(world, 1)).toBe(false);
    move(HOUR);
    await world.wake();
    expect((await world.settled(id)).events[0]).toMatchObject(isStranger);
    expect(stateOf(world, 1)).toBe('open');
    expect(await isClaimed(world, 1)).toBe(false);
  });

  test('takes an issue of the same minute, for clocks differ', async () => {
    const { world, id } = await worldWithStranger(MINUTE / 2);
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', leadIds: ['1'] });
    expect(stateOf(world, 1)).toBe('closed');
  });

  test('still leaves it alone when an operator replays it, and not when it is sent again', async () => {
    const { world, id, move } = await worldWithStranger(2 * MINUTE);
    await expectMisses(world, id, 2);
    move(HOUR);
    await world.wake();
    await world.settled(id);
    const actor = { kind: 'cli', subject: 'ops' } as const;
    expect(await world.partners.receipts.replay(id, { actor })).toEqual({ queued: 1 });
    for (const attempts of [1, 2]) {
      await world.wake();
      await expectMisses(world, id, attempts);
      move(HOUR);
    }
    await world.wake();
    expect((await world.settled(id)).events[0]).toMatchObject(isStranger);
    expect(await world.send(event)).toBe(id);
    const { events } = await world.settled(id);
    expect(events[0]).toMatchObject({ outcome: 'DONE', leadIds: ['1'] });
    expect(events[0]).not.toHaveProperty('note');
  });

  test('means the issue of that number once it is sent again while it waits', async () => {
    const { world, id } = await worldWithStranger(2 * MINUTE);
    await expectMisses(world, id, 2);
    expect(await world.send(event)).toBe(id);
    const { events } = await world.settled(id);
    expect(events[0]).toMatchObject({ outcome: 'DONE', leadIds: ['1'] });
    expect(events[0]).not.toHaveProperty('note');
  });
});
