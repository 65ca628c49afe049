/** A lead id needs no directory: it is acted on whatever the crawl does. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';
import { auditOf } from '../../../support/audit.ts';

const LIST = '/issues$';
const isClaimed = async (world: DeletionWorld, number: number) =>
  (await world.claims.current()).has(number);
const stateOf = (world: DeletionWorld, number: number) => world.tracker.readIssue(number)?.state;

/** A worker beside a first crawl whose calls nobody answers until `goOn`, so that it waits in vain. */
async function worldBeforeCrawl(prepare: (world: DeletionWorld) => void = () => undefined) {
  const world = await openDeletions({ requestTimeoutMs: 60_000, clock: systemClock });
  prepare(world);
  const gate = world.tracker.hold({ path: LIST });
  onTestFinished(() => gate.open());
  world.filler.start();
  await gate.arrived();
  await world.partners.start();
  return { world, goOn: () => gate.open() };
}

describe('while the first crawl runs', () => {
  test('the lead is claimed and acted on', async () => {
    let number = 0;
    const { world } = await worldBeforeCrawl(({ tracker }) => {
      ({ number } = tracker.createIssue(leadIssue()));
    });
    const { events } = await world.settled(await world.send({ leadId: number }));
    expect(events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(number)], attempts: 1 });
    expect(stateOf(world, number)).toBe('closed');
    expect(world.filler.status().state).not.toBe('complete');
  });

  test('one that moved to another repository ends as such', async () => {
    const { world } = await worldBeforeCrawl(({ tracker }) => {
      tracker.createIssue(leadIssue());
      tracker.transferIssue(1, 'acme/elsewhere');
    });
    const { events } = await world.settled(await world.send({ leadId: 1 }));
    expect(events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'transferred' });
  });

  test('one of another person is left alone, and the person is found when the crawl is done', async () => {
    const numbers: number[] = [];
    const { world, goOn } = await worldBeforeCrawl(({ tracker }) => {
      for (const email of ['bob@example.com', 'ada@example.com'])
        numbers.push(tracker.createIssue(leadIssue({ email })).number);
    });
    const [bob = 0, ada = 0] = numbers;
    const id = await world.send({ leadId: bob, email: 'ada@example.com' });
    const path = new RegExp(`issues/${bob}$`);
    await eventually(() => expect(world.tracker.calls.count({ path })).toBe(1));
    await eventually(async () => expect(await isClaimed(world, bob)).toBe(false));
    goOn();
    expect((await world.settled(id)).events[0]).toMatchObject({
      outcome: 'DONE',
      leadIds: [String(ada)],
      note: 'lead-id-conflict',
    });
    expect(stateOf(world, bob)).toBe('open');
  });

  test.each([
    ['a pull request', true, 'pull-request'],
    ['no issue', false, 'no-issue'],
  ])(
    'of %s nothing is claimed in the end, and the next name decides',
    async (_what, isPull, lastError) => {
      const { world, goOn } = await worldBeforeCrawl(({ tracker }) => {
        tracker.createIssue(leadIssue());
        if (isPull) tracker.createIssue({ ...leadIssue(), isPullRequest: true });
      });
      const nobody = await world.send({ leadId: 2 });
      const somebody = await world.send({ leadId: 2, email: 'ada@example.com' });
      const reads = () => world.tracker.calls.count({ path: /issues\/2$/ });
      const { handle } = world.database;
      const known = handle.prepare(`SELECT sum(progress ->> '$.isNoLead') FROM event`).pluck();
      const dueAt = handle.prepare('SELECT sum(due_at) FROM event').pluck();
      await eventually(() => expect(known.get()).toBe(2));
      const readsUntilKnown = reads(); // two, and more only where a read took too long
      const rounds = new Set<unknown>();
      await eventually(() => expect(rounds.add(dueAt.get()).size).toBeGreaterThan(5));
      expect(reads()).toBe(readsUntilKnown); // never again, however long the crawl takes
      goOn();
      expect((await world.settled(nobody)).events[0]).toMatchObject({
        outcome: 'UNMATCHED',
        names: ['lead-id'],
        lastError,
        leadIds: [],
      });
      expect((await world.settled(somebody)).events[0]).toMatchObject({
        outcome: 'DONE',
        leadIds: ['1'],
      });
      expect(await isClaimed(world, 2)).toBe(false);
    },
  );
});

describe('while the tracker is down', () => {
  test('a lead that nobody knows yet is claimed by its number, and acted on later', async () => {
    const world = await openDeletions();
    await world.start();
    const { number } = world.tracker.createIssue(leadIssue());
    world.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await world.send({ leadId: number });
    await eventually(async () => expect(await isClaimed(world, number)).toBe(true));
    world.tracker.clearFaults();
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(stateOf(world, number)).toBe('closed');
  });

  test('a claim of a number that turns out to be nobody’s is taken back, audited', async () => {
    const world = await openDeletions();
    await world.start();
    world.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await world.send({ leadId: 99 });
    await eventually(async () => expect(await isClaimed(world, 99)).toBe(true));
    world.tracker.clearFaults();
    expect((await world.settled(id)).events[0]).toMatchObject({
      outcome: 'UNMATCHED',
      leadIds: [],
    });
    expect(await isClaimed(world, 99)).toBe(false);
    expect(await auditOf(world.database, 'claim/99')).toMatchObject([
      { action: 'claim.withdraw', changes: { receiptId: id, reason: 'unmatched' } },
    ]);
  });

  test('costs no call for each number', async () => {
    const world = await openDeletions();
    await world.start();
    world.tracker.fault({ kind: 'reset', count: 100_000 });
    const batch = Array.from({ length: 200 }, (_, index) => ({ leadId: 1000 + index }));
    await world.send(batch);
    await eventually(async () => expect(await isClaimed(world, 1199)).toBe(true));
    expect(world.tracker.calls.count({ path: /issues\/\d+$/ })).toBeLessThan(100);
  });
});

describe('while the list cannot be read, and single issues can', () => {
  async function worldWithoutList(...emails: string[]) {
    const world = await openDeletions();
    await world.start();
    await eventually(() => expect(world.filler.status().state).toBe('complete'));
    world.tracker.fault({ kind: 'status', status: 503, path: LIST, count: 100_000 });
    const numbers = emails.map((email) => world.tracker.createIssue(leadIssue({ email })).number);
    return { world, numbers };
  }

  test('leads that are named by their numbers are acted on', async () => {
    const { world, numbers } = await worldWithoutList('ada@example.com', 'ada@example.com');
    const ids = [];
    for (const leadId of numbers) ids.push(await world.send({ leadId }));
    for (const id of ids)
      expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    for (const number of numbers) expect(stateOf(world, number)).toBe('closed');
  });

  test('so is one that is the person’s by its own body, and one of another person is left alone', async () => {
    const { world, numbers } = await worldWithoutList('ada@example.com', 'bob@example.com');
    const [ada = 0, bob = 0] = numbers;
    const email = 'ada@example.com';
    const other = await world.send({ leadId: bob, email });
    const own = await world.send({ leadId: ada, email });
    expect((await world.settled(own)).events[0]).toMatchObject({ leadIds: [String(ada)] });
    await eventually(async () => expect(await isClaimed(world, bob)).toBe(false));
    expect(stateOf(world, bob)).toBe('open');
    expect((await world.read(other)).events[0]).toMatchObject({ outcome: 'PENDING' });
    world.tracker.clearFaults();
    expect((await world.settled(other)).events[0]).toMatchObject({
      outcome: 'DONE',
      leadIds: [String(ada)],
      note: 'lead-id-conflict',
    });
  });
});
