/** A lead id needs no directory: it is acted on whatever the crawl does. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';
import type { Desk } from '../../support/deletion-desk.ts';

const LIST = '/issues$';
const isClaimed = async (desk: Desk, number: number) => (await desk.claims.current()).has(number);
const stateOf = (desk: Desk, number: number) => desk.tracker.readIssue(number)?.state;

/** A worker beside a first crawl whose calls nobody answers until `goOn`. */
async function deskBeforeCrawl(prepare: (desk: Desk) => void = () => undefined) {
  const desk = await openDesk({ requestTimeoutMs: 60_000 });
  prepare(desk);
  const gate = desk.tracker.hold({ path: LIST });
  onTestFinished(() => gate.open());
  desk.filler.start();
  await gate.arrived();
  await desk.worker.start();
  return { desk, goOn: () => gate.open() };
}

describe('while the first crawl runs', () => {
  test('the lead is claimed and acted on', async () => {
    let number = 0;
    const { desk } = await deskBeforeCrawl(({ tracker }) => {
      ({ number } = tracker.createIssue(leadIssue()));
    });
    const { events } = await desk.settled(await desk.send({ leadId: number }));
    expect(events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(number)], attempts: 1 });
    expect(stateOf(desk, number)).toBe('closed');
    expect(desk.filler.status().state).not.toBe('complete');
  });

  test('one that moved to another repository ends as such', async () => {
    const { desk } = await deskBeforeCrawl(({ tracker }) => {
      tracker.createIssue(leadIssue());
      tracker.transferIssue(1, 'acme/elsewhere');
    });
    const { events } = await desk.settled(await desk.send({ leadId: 1 }));
    expect(events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'transferred' });
  });

  test('one of another person is left alone, and the person is found when the crawl is done', async () => {
    const numbers: number[] = [];
    const { desk, goOn } = await deskBeforeCrawl(({ tracker }) => {
      for (const email of ['bob@example.com', 'ada@example.com'])
        numbers.push(tracker.createIssue(leadIssue({ email })).number);
    });
    const [bob = 0, ada = 0] = numbers;
    const id = await desk.send({ leadId: bob, email: 'ada@example.com' });
    const path = new RegExp(`issues/${bob}$`);
    await vi.waitFor(() => expect(desk.tracker.calls.count({ path })).toBe(1), 5000);
    await vi.waitFor(async () => expect(await isClaimed(desk, bob)).toBe(false), 5000);
    goOn();
    expect((await desk.settled(id)).events[0]).toMatchObject({
      outcome: 'DONE',
      leadIds: [String(ada)],
      note: 'lead-id-conflict',
    });
    expect(stateOf(desk, bob)).toBe('open');
  });

  test.each([
    ['a pull request', true],
    ['no issue', false],
  ])('of %s nothing is claimed in the end, and the next name decides', async (_what, isPull) => {
    const { desk, goOn } = await deskBeforeCrawl(({ tracker }) => {
      tracker.createIssue(leadIssue());
      if (isPull) tracker.createIssue({ ...leadIssue(), isPullRequest: true });
    });
    const nobody = await desk.send({ leadId: 2 });
    const somebody = await desk.send({ leadId: 2, email: 'ada@example.com' });
    const reads = () => desk.tracker.calls.count({ path: /issues\/2$/ });
    const dueAt = desk.database.handle.prepare('SELECT sum(dueAt) FROM event').pluck();
    const rounds = new Set<unknown>();
    await vi.waitFor(() => expect(rounds.add(dueAt.get()).size).toBeGreaterThan(5), {
      timeout: 10_000,
    });
    expect(reads()).toBe(2); // asked once for each event, however long the crawl takes
    goOn();
    expect((await desk.settled(nobody)).events[0]).toMatchObject({
      outcome: 'UNMATCHED',
      leadIds: [],
    });
    expect((await desk.settled(somebody)).events[0]).toMatchObject({
      outcome: 'DONE',
      leadIds: ['1'],
    });
    expect(await isClaimed(desk, 2)).toBe(false);
  });
});

describe('while the tracker is down', () => {
  test('a lead that nobody knows yet is claimed by its number, and acted on later', async () => {
    const desk = await openDesk();
    await desk.start();
    const { number } = desk.tracker.createIssue(leadIssue());
    desk.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await desk.send({ leadId: number });
    await vi.waitFor(async () => expect(await isClaimed(desk, number)).toBe(true), {
      timeout: 1000,
      interval: 5,
    });
    desk.tracker.clearFaults();
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(stateOf(desk, number)).toBe('closed');
  });

  test('a claim of a number that turns out to be nobody’s is taken back, audited', async () => {
    const desk = await openDesk();
    await desk.start();
    desk.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await desk.send({ leadId: 99 });
    await vi.waitFor(async () => expect(await isClaimed(desk, 99)).toBe(true), { interval: 5 });
    desk.tracker.clearFaults();
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'UNMATCHED', leadIds: [] });
    expect(await isClaimed(desk, 99)).toBe(false);
    expect(createAuditLog(desk.database).listOf('claim/99')).toMatchObject([
      { action: 'claim.withdraw', changes: { receiptId: id, reason: 'unmatched' } },
    ]);
  });

  test('costs no call for each number', async () => {
    const desk = await openDesk();
    await desk.start();
    desk.tracker.fault({ kind: 'reset', count: 100_000 });
    const batch = Array.from({ length: 50 }, (_, index) => ({ leadId: 1000 + index }));
    await desk.send(batch);
    await vi.waitFor(async () => expect(await isClaimed(desk, 1049)).toBe(true), 5000);
    expect(desk.tracker.calls.count({ path: /issues\/\d+$/ })).toBe(0);
  });
});
