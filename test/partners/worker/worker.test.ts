import { describe, expect, test } from 'vitest';
import { HOUR } from '#shared/clock.ts';
import { leadIssue, WRITER } from '../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../support/deletions/world.ts';
import { eventually } from '../../support/eventually.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';

const labelsOf = (world: DeletionWorld, number: number) =>
  world.tracker
    .readIssue(number)
    ?.labels.map(({ name }) => name)
    .sort();

const writesOf = (world: DeletionWorld) =>
  world.tracker.calls.entries.filter((call) => call.method !== 'GET');

async function runningWorld(options?: Parameters<typeof openDeletions>[0]): Promise<DeletionWorld> {
  const world = await openDeletions(options);
  await world.start();
  return world;
}

const isClaimed = async (world: DeletionWorld, number: number) =>
  (await world.claims.current()).has(number);

const expectClosed = (world: DeletionWorld, number: number) => {
  expect(world.tracker.readIssue(number)?.state).toBe('closed');
  expect(labelsOf(world, number)).toEqual(['deleted-by-partner', 'eu']);
};

const expectUntouched = (world: DeletionWorld, number: number) => {
  expect(world.tracker.readIssue(number)?.state).toBe('open');
  expect(labelsOf(world, number)).toEqual(['approved', 'eu']);
};

describe('a deletion', () => {
  test('claims, relabels and closes the issue, with one read and one write', async () => {
    const world = await runningWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    await world.filler.catchUp(); // what is not known in time is read by its number
    const receipt = await world.settled(await world.send({ leadId: String(number) }));
    expect(receipt).toMatchObject({
      status: 'PROCESSED',
      events: [{ outcome: 'DONE', leadIds: [String(number)], attempts: 1 }],
    });
    expect(receipt.events[0]).not.toHaveProperty('erasure');
    expectClosed(world, number);
    expect(world.tracker.readIssue(number)?.stateReason).toBe('not_planned');
    expect(await isClaimed(world, number)).toBe(true);
    expect(writesOf(world)).toHaveLength(1);
    const ofIssue = new RegExp(`/issues/${number}$`);
    expect(world.tracker.calls.count({ method: 'GET', path: ofIssue })).toBe(1);
  });

  test('finds a lead that was made a moment ago, approved or not, open or closed', async () => {
    const world = await runningWorld();
    const numbers = [
      leadIssue(),
      { ...leadIssue(), labels: [] },
      { ...leadIssue(), state: 'closed' as const },
    ].map((input) => world.tracker.createIssue(input).number);
    const other = world.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    const receipt = await world.settled(await world.send({ email: ' ADA@Example.com ' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: numbers.map(String) });
    for (const number of numbers) expect(labelsOf(world, number)).toContain('deleted-by-partner');
    expectUntouched(world, other);
  });

  test('never acts on a pull request', async () => {
    const world = await runningWorld();
    const pull = world.tracker.createIssue({ ...leadIssue(), isPullRequest: true }).number;
    const byNumber = await world.settled(await world.send({ leadId: String(pull) }));
    const byEmail = await world.settled(await world.send({ email: 'ada@example.com' }));
    expect([byNumber, byEmail].map(({ events }) => events[0]?.outcome)).toEqual([
      'UNMATCHED',
      'UNMATCHED',
    ]);
    expectUntouched(world, pull);
  });

  test('finds at a later try what the tracker had not shown before', async () => {
    const world = await runningWorld({
      tracker: { replicaLagMs: 300 },
      worker: { timing: { unmatchedWaitsMs: [200, 2000] } },
    });
    const { number } = world.tracker.createIssue(leadIssue());
    const receipt = await world.settled(await world.send({ email: 'ada@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(number)] });
  });

  test('works through a batch, each event with an outcome of its own', async () => {
    const world = await runningWorld();
    const first = world.tracker.createIssue(leadIssue()).number;
    const second = world.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    const receipt = await world.settled(
      await world.send([
        { email: 'bob@example.com' },
        { email: 'no@example.com' },
        { leadId: first },
      ]),
    );
    expect(receipt.events.map(({ outcome }) => outcome)).toEqual(['DONE', 'UNMATCHED', 'DONE']);
    expectClosed(world, first);
    expectClosed(world, second);
  });

  test('that comes twenty times has one effect', async () => {
    const world = await runningWorld({ actions: ['relabel', 'close', 'comment'] });
    const { number } = world.tracker.createIssue(leadIssue());
    const body = { leadId: String(number), eventId: 'e1' };
    const ids = await Promise.all(Array.from({ length: 20 }, () => world.send(body)));
    expect(new Set(ids).size).toBe(1);
    await world.settled(ids[0] ?? '');
    await world.send(body);
    expect(world.tracker.readIssue(number)?.comments).toHaveLength(1);
    expect(writesOf(world)).toHaveLength(2);
  });

  test('reaches a person who came back and is deleted again with the same bytes', async () => {
    const world = await runningWorld();
    const first = world.tracker.createIssue(leadIssue()).number;
    const id = await world.send({ email: 'ada@example.com' });
    await world.settled(id);
    const second = world.tracker.createIssue(leadIssue()).number;
    expect(await world.send({ email: 'ada@example.com' })).toBe(id);
    const receipt = await world.settled(id);
    expect(receipt.events[0]?.leadIds).toEqual([String(first), String(second)]);
    expectClosed(world, second);
  });

  test.each([
    ['waits for a match', () => {}],
    [
      'waits for a try at its actions',
      ({ tracker }: DeletionWorld) => {
        tracker.createIssue(leadIssue());
        tracker.fault({ kind: 'status', status: 500, method: 'PATCH', count: 1000 });
      },
    ],
  ])('that %s claims at its repeat who came meanwhile', async (_what, prepare) => {
    const world = await runningWorld({
      worker: { timing: { unmatchedWaitsMs: [HOUR] }, retryMs: [HOUR] },
    });
    prepare(world);
    const id = await world.send({ email: 'ada@example.com' });
    await eventually(async () => expect((await world.read(id)).events[0]?.attempts).toBe(1));
    const { number } = world.tracker.createIssue(leadIssue());
    expect(await world.send({ email: 'ada@example.com' })).toBe(id);
    await eventually(async () => expect(await isClaimed(world, number)).toBe(true));
  });
});

describe('while the tracker is down', () => {
  test('what the directory knows is claimed at once, and acted on when it is back', async () => {
    const world = await runningWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    await world.filler.catchUp();
    world.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await world.send({ email: 'ada@example.com', correlationId: 'of-the-partner' });
    await eventually(async () => expect(await isClaimed(world, number)).toBe(true));
    expectUntouched(world, number);
    world.tracker.clearFaults();
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expectClosed(world, number);
  });

  test('a claim by a lesser name is taken back when a better one finds its lead', async () => {
    const world = await runningWorld();
    const known = world.tracker.createIssue(leadIssue()).number;
    await world.filler.catchUp();
    const named = world.tracker.createIssue(leadIssue({ correlationId: 'corr-1' })).number;
    world.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await world.send({ email: 'ada@example.com', correlationId: 'corr-1' });
    await eventually(async () => expect(await isClaimed(world, known)).toBe(true));
    world.tracker.clearFaults();
    expect((await world.settled(id)).events[0]?.leadIds).toEqual([String(named)]);
    expect(await isClaimed(world, known)).toBe(false);
    expectUntouched(world, known);
    expectClosed(world, named);
  });

  test('a catch-up that fails is no try', async () => {
    const world = await runningWorld();
    world.tracker.fault({ kind: 'status', status: 502, count: 4, path: '/issues$' });
    const receipt = await world.settled(await world.send({ email: 'nobody@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'UNMATCHED', attempts: 3 });
  });

  test('nothing ends UNMATCHED before the first crawl is complete', async () => {
    const world = await openDeletions({ isCrawling: false });
    const { number } = world.tracker.createIssue(leadIssue());
    await world.partners.start();
    const id = await world.send({ email: 'ada@example.com' });
    const lost = await world.send({ email: 'nobody@example.com' });
    // Far more full catch-ups than the tries after which it would end otherwise.
    await eventually(() =>
      expect(world.tracker.calls.count({ path: /issues$/ })).toBeGreaterThan(8),
    );
    expect((await world.read(id)).status).toBe('ACCEPTED');
    expect((await world.read(lost)).status).toBe('ACCEPTED');
    world.filler.start();
    expect((await world.settled(id)).events[0]).toMatchObject({ leadIds: [String(number)] });
    expect((await world.settled(lost)).events[0]?.outcome).toBe('UNMATCHED');
  });
});

describe('a restart', () => {
  test('takes up at once what the last process had in hand', async () => {
    const first = await openDeletions();
    const { number } = first.tracker.createIssue(leadIssue());
    first.filler.start();
    const id = await first.send({ leadId: String(number) });
    // The lease of a process that died is in force: nobody gives it back.
    expect(await leaseEvents(first.work, 'match', { now: Date.now(), limit: 10 })).toHaveLength(1);
    await first.stop();
    const second = await runningWorld({ of: first });
    expect((await second.settled(id)).events[0]?.outcome).toBe('DONE');
    expectClosed(second, number);
  });

  test('spends no try on a step that the stop cut short', async () => {
    const world = await runningWorld({ requestTimeoutMs: 3000 });
    const { number } = world.tracker.createIssue(leadIssue());
    const gate = world.tracker.hold({ path: `/issues/${number}$` });
    const id = await world.send({ leadId: String(number) });
    await gate.arrived();
    await world.partners.stop();
    expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
  });

  test('finishes the step in hand, gives the rest back, and loses nothing', async () => {
    const first = await runningWorld({ actions: ['relabel', 'close', 'comment'] });
    const numbers = [1, 2, 3].map(() => first.tracker.createIssue(leadIssue()).number);
    const gate = first.tracker.hold({ method: 'PATCH' });
    const id = await first.send({ email: 'ada@example.com' });
    await gate.arrived();
    const stopped = first.partners.stop();
    gate.open();
    await stopped;
    expect((await first.read(id)).status).toBe('ACCEPTED');
    const second = await runningWorld({ of: first, actions: ['relabel', 'close', 'comment'] });
    expect((await second.settled(id)).events[0]?.outcome).toBe('DONE');
    for (const number of numbers) {
      expectClosed(second, number);
      expect(second.tracker.readIssue(number)?.comments).toHaveLength(1);
    }
    expect(writesOf(second).filter(({ method }) => method === 'PATCH')).toHaveLength(3);
  });
});

test('a whole batch is served by one catch-up', async () => {
  const world = await runningWorld();
  const { number } = world.tracker.createIssue(leadIssue());
  world.tracker.calls.clear();
  const batch = Array.from({ length: 120 }, (_, index) => ({
    eventId: String(index),
    leadId: String(number),
  }));
  await world.settled(await world.send(batch));
  expect(world.tracker.calls.count({ path: /issues$/ })).toBe(1);
  expectClosed(world, number);
});

describe('a repository of another name in the configuration', () => {
  /** A deletion that is matched, and whose actions a stop cut short. */
  async function cutShort(): Promise<{ world: DeletionWorld; number: number; id: string }> {
    const world = await runningWorld({ requestTimeoutMs: 3000 });
    const { number } = world.tracker.createIssue(leadIssue());
    const gate = world.tracker.hold({ path: `/issues/${number}$` });
    const id = await world.send({ leadId: String(number) });
    await gate.arrived();
    await world.stop();
    gate.open();
    return { world, number, id };
  }

  /** Has the name mean another repository, whose issue of the same number is `other`: the deletion fails there. */
  async function failElsewhere(
    world: DeletionWorld,
    { id, other, number }: { id: string; other: number; number: number },
  ) {
    const moved = world.tracker.transferIssue(other, 'acme/elsewhere');
    expect(moved.number).toBe(number);
    const elsewhere = await openDeletions({ of: world, repository: 'acme/elsewhere' });
    await elsewhere.start();
    const { events } = await elsewhere.settled(id);
    expect(events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'repository-changed' });
    await elsewhere.stop();
    return moved;
  }

  test('that is the old one renamed: what was begun is finished', async () => {
    const { world, number, id } = await cutShort();
    world.tracker.renameRepository('renamed');
    const renamed = await openDeletions({ of: world, repository: 'acme/renamed' });
    await renamed.partners.start();
    expect((await renamed.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expectClosed(renamed, number);
  });

  test('that is another one: nothing is touched there, and it can be finished later', async () => {
    const { world, number, id } = await cutShort();
    const other = world.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    const moved = await failElsewhere(world, { id, other, number });
    expect(world.tracker.readIssue(number, 'acme/elsewhere')).toEqual(moved);
    const back = await runningWorld({ of: world });
    expect(await isClaimed(back, number)).toBe(true);
    const actor = { kind: 'cli', subject: 'ops' } as const;
    await back.partners.receipts.replay(id, { actor });
    expect((await back.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expectClosed(back, number);
  });

  test.each([
    ['an e-mail address', () => ({ email: 'ada@example.com' })],
    ['a lead id', (number: number) => ({ leadId: number })],
  ])(
    'that is another one: what %s claimed for now in the old one is not taken there',
    async (_name, eventOf) => {
      const world = await runningWorld();
      const { number } = world.tracker.createIssue(leadIssue());
      const other = world.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
      await world.filler.catchUp();
      world.tracker.fault({ kind: 'reset', count: 1000 });
      const id = await world.send(eventOf(number));
      await eventually(async () => expect(await isClaimed(world, number)).toBe(true));
      await world.stop();
      world.tracker.clearFaults();
      const moved = await failElsewhere(world, { id, other, number });
      expect(world.tracker.readIssue(number, 'acme/elsewhere')).toEqual(moved);
    },
  );

  test('that is unknown yet while the tracker is away: the deletion waits', async () => {
    const { world, number, id } = await cutShort();
    world.tracker.renameRepository('renamed');
    world.tracker.fault({ kind: 'reset', count: 1000 });
    world.tracker.calls.clear();
    const renamed = await openDeletions({ of: world, repository: 'acme/renamed' });
    await renamed.partners.start();
    await eventually(() => expect(world.tracker.calls.count()).toBeGreaterThan(0));
    expect((await renamed.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
    world.tracker.clearFaults();
    expect((await renamed.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expectClosed(renamed, number);
  });
});

test('an operator who releases a lead keeps the worker from it until it is sent again', async () => {
  const world = await runningWorld({ worker: { retryMs: [300, 20] } });
  const { number } = world.tracker.createIssue(leadIssue());
  world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
  const id = await world.send({ leadId: String(number) });
  await eventually(async () => expect((await world.read(id)).events[0]?.attempts).toBe(1));
  await world.claims.release(number, {
    at: Date.now(),
    actor: { kind: 'cli', subject: 'ops' },
  });
  expect((await world.settled(id)).events[0]).toMatchObject({
    outcome: 'UNMATCHED',
    lastError: 'claim-released',
  });
  expectUntouched(world, number);
  expect(await world.send({ leadId: String(number) })).toBe(id);
  expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
  expectClosed(world, number);
  expect(await isClaimed(world, number)).toBe(true);
});

test('the counts tell what waits and what needs a person', async () => {
  const world = await openDeletions({ token: WRITER });
  await world.send({ leadId: '1' });
  expect(await world.partners.workerStatus()).toMatchObject({
    state: 'stopped',
    open: 1,
    deadLetters: 0,
    oldestAskedAt: expect.any(Number),
  });
  await world.start();
  await eventually(async () =>
    expect(await world.partners.workerStatus()).toMatchObject({ state: 'running', open: 0 }),
  );
});
