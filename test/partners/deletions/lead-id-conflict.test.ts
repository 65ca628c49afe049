/** A lead id that is somebody else's: many systems have an id of their own under that name. */
import { describe, expect, test, vi } from 'vitest';
import { HOUR, MINUTE, systemClock } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';
import type { Desk } from '../../support/deletion-desk.ts';

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

describe('a lead id that nobody has yet when it is sent', () => {
  const event = { leadId: 1 };
  const isStranger = {
    outcome: 'UNMATCHED',
    leadIds: [],
    note: 'lead-id-conflict',
  };

  /** The event has found nobody; then a visitor's issue gets its number, `afterMs` later. */
  async function deskWithStranger(afterMs: number) {
    let now = Date.now();
    const clock: Clock = { ...systemClock, now: () => now };
    const move = (ms: number): void => {
      now += ms;
    };
    const desk = await openDesk({
      clock,
      tracker: { clock },
      worker: { unmatchedWaitsMs: [HOUR, HOUR] },
    });
    await desk.start();
    const id = await desk.send(event);
    await expectMisses(desk, id, 1);
    expect(await isClaimed(desk, 1)).toBe(true);
    move(afterMs);
    expect(desk.tracker.createIssue(leadIssue()).number).toBe(1);
    move(HOUR - afterMs);
    desk.worker.wake();
    return { desk, id, move, clock };
  }

  const expectMisses = (desk: Desk, id: string, attempts: number) =>
    vi.waitFor(async () => expect((await desk.read(id)).events[0]).toMatchObject({ attempts }), {
      timeout: 5000,
      interval: 5,
    });

  test('leaves the issue alone that gets the number later, and readers see it soon', async () => {
    const { desk, id, move } = await deskWithStranger(2 * MINUTE);
    await expectMisses(desk, id, 2);
    expect(await isClaimed(desk, 1)).toBe(false);
    move(HOUR);
    desk.worker.wake();
    expect((await desk.settled(id)).events[0]).toMatchObject(isStranger);
    expect(stateOf(desk, 1)).toBe('open');
    expect(await isClaimed(desk, 1)).toBe(false);
  });

  test('takes an issue of the same minute, for clocks differ', async () => {
    const { desk, id } = await deskWithStranger(MINUTE / 2);
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', leadIds: ['1'] });
    expect(stateOf(desk, 1)).toBe('closed');
  });

  test('still leaves it alone when an operator replays it, and not when it is sent again', async () => {
    const { desk, id, move, clock } = await deskWithStranger(2 * MINUTE);
    await expectMisses(desk, id, 2);
    move(HOUR);
    desk.worker.wake();
    await desk.settled(id);
    const actor = { kind: 'cli', subject: 'ops' } as const;
    const entry = { at: clock.now(), actor, subject: `receipt/${id}` };
    const replayed = await desk.receipts.replay(id, { ...entry, action: 'receipt.replay' });
    expect(replayed).toMatchObject({ queued: 1 });
    for (const attempts of [1, 2]) {
      desk.worker.wake();
      await expectMisses(desk, id, attempts);
      move(HOUR);
    }
    desk.worker.wake();
    expect((await desk.settled(id)).events[0]).toMatchObject(isStranger);
    expect(await desk.send(event)).toBe(id);
    const { events } = await desk.settled(id);
    expect(events[0]).toMatchObject({ outcome: 'DONE', leadIds: ['1'] });
    expect(events[0]).not.toHaveProperty('note');
  });

  test('means the issue of that number once it is sent again while it waits', async () => {
    const { desk, id } = await deskWithStranger(2 * MINUTE);
    await expectMisses(desk, id, 2);
    expect(await desk.send(event)).toBe(id);
    const { events } = await desk.settled(id);
    expect(events[0]).toMatchObject({ outcome: 'DONE', leadIds: ['1'] });
    expect(events[0]).not.toHaveProperty('note');
  });
});
