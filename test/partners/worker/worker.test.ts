import { describe, expect, test, vi } from 'vitest';
import { HOUR, systemClock } from '#shared/clock.ts';
import { leadIssue, openDesk, WRITER } from '../../support/deletion-desk.ts';
import type { Desk } from '../../support/deletion-desk.ts';

const labelsOf = (desk: Desk, number: number) =>
  desk.tracker
    .readIssue(number)
    ?.labels.map(({ name }) => name)
    .sort();

const writesOf = (desk: Desk) => desk.tracker.calls.entries.filter((call) => call.method !== 'GET');

async function runningDesk(options?: Parameters<typeof openDesk>[0]): Promise<Desk> {
  const desk = await openDesk(options);
  await desk.start();
  return desk;
}

const isClaimed = async (desk: Desk, number: number) => (await desk.claims.current()).has(number);

const expectClosed = (desk: Desk, number: number) => {
  expect(desk.tracker.readIssue(number)?.state).toBe('closed');
  expect(labelsOf(desk, number)).toEqual(['deleted-by-partner', 'eu']);
};

const expectUntouched = (desk: Desk, number: number) => {
  expect(desk.tracker.readIssue(number)?.state).toBe('open');
  expect(labelsOf(desk, number)).toEqual(['approved', 'eu']);
};

describe('a deletion', () => {
  test('claims, relabels and closes the issue, with one read and one write', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    const receipt = await desk.settled(await desk.send({ leadId: String(number) }));
    expect(receipt).toMatchObject({
      status: 'PROCESSED',
      events: [{ outcome: 'DONE', leadIds: [String(number)], attempts: 1 }],
    });
    expect(receipt.events[0]).not.toHaveProperty('erasure');
    expectClosed(desk, number);
    expect(desk.tracker.readIssue(number)?.stateReason).toBe('not_planned');
    expect(await isClaimed(desk, number)).toBe(true);
    expect(writesOf(desk)).toHaveLength(1);
    const ofIssue = new RegExp(`/issues/${number}$`);
    expect(desk.tracker.calls.count({ method: 'GET', path: ofIssue })).toBe(1);
  });

  test('finds a lead that was made a moment ago, approved or not, open or closed', async () => {
    const desk = await runningDesk();
    const numbers = [
      leadIssue(),
      { ...leadIssue(), labels: [] },
      { ...leadIssue(), state: 'closed' as const },
    ].map((input) => desk.tracker.createIssue(input).number);
    const other = desk.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    const receipt = await desk.settled(await desk.send({ email: ' ADA@Example.com ' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: numbers.map(String) });
    for (const number of numbers) expect(labelsOf(desk, number)).toContain('deleted-by-partner');
    expectUntouched(desk, other);
  });

  test('matches by lead id, then correlation id, then external id, then e-mail', async () => {
    const desk = await runningDesk();
    const make = (input: object) => desk.tracker.createIssue(leadIssue(input)).number;
    const email = '_No response_';
    const byLeadId = make({ email });
    const byCorrelation = make({ email, correlationId: 'corr-1' });
    const byExternal = make({ email, externalIds: { 'crm-one': 'ext-1' } });
    const byEmail = make({ email: '4@example.com' });
    const names = [
      ['leadId', String(byLeadId), byLeadId],
      ['correlationId', 'corr-1', byCorrelation],
      ['externalId', 'ext-1', byExternal],
      ['email', '4@example.com', byEmail],
    ] as const;
    for (const [index, [, , expected]] of names.entries()) {
      const body = Object.fromEntries(names.slice(index).map(([field, value]) => [field, value]));
      const receipt = await desk.settled(await desk.send(body));
      expect(receipt.events[0]?.leadIds).toEqual([String(expected)]);
    }
  });

  test('goes on to the next name when one finds nothing', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    const body = { leadId: '999', correlationId: 'none', externalId: 'none' };
    const receipt = await desk.settled(await desk.send({ ...body, email: 'ada@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(number)] });
  });

  test("never takes one partner's external id for another's", async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(
      leadIssue({ externalIds: { crm: '1', 'crm-one.': '1', 'crm-two': '1' } }),
    );
    const receipt = await desk.settled(await desk.send({ externalId: '1' }));
    expect(receipt.events[0]?.outcome).toBe('UNMATCHED');
    expectUntouched(desk, number);
    const own = await desk.settled(
      await desk.send({ objectId: 1, subscriptionType: 'contact.deletion' }, 'crm-two'),
    );
    expect(own.events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(number)] });
  });

  test('never acts on a pull request', async () => {
    const desk = await runningDesk();
    const pull = desk.tracker.createIssue({ ...leadIssue(), isPullRequest: true }).number;
    const byNumber = await desk.settled(await desk.send({ leadId: String(pull) }));
    const byEmail = await desk.settled(await desk.send({ email: 'ada@example.com' }));
    expect([byNumber, byEmail].map(({ events }) => events[0]?.outcome)).toEqual([
      'UNMATCHED',
      'UNMATCHED',
    ]);
    expectUntouched(desk, pull);
  });

  test('ends UNMATCHED after it was tried three times', async () => {
    const desk = await runningDesk();
    const receipt = await desk.settled(await desk.send({ email: 'nobody@example.com' }));
    expect(receipt).toMatchObject({
      status: 'UNMATCHED',
      events: [{ outcome: 'UNMATCHED', attempts: 3, leadIds: [] }],
    });
  });

  test('finds at a later try what the tracker had not shown before', async () => {
    const desk = await runningDesk({
      tracker: { replicaLagMs: 300 },
      worker: { unmatchedWaitsMs: [200, 2000] },
    });
    const { number } = desk.tracker.createIssue(leadIssue());
    const receipt = await desk.settled(await desk.send({ email: 'ada@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', leadIds: [String(number)] });
  });

  test('works through a batch, each event with an outcome of its own', async () => {
    const desk = await runningDesk();
    const first = desk.tracker.createIssue(leadIssue()).number;
    const second = desk.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    const receipt = await desk.settled(
      await desk.send([
        { email: 'bob@example.com' },
        { email: 'no@example.com' },
        { leadId: first },
      ]),
    );
    expect(receipt.events.map(({ outcome }) => outcome)).toEqual(['DONE', 'UNMATCHED', 'DONE']);
    expectClosed(desk, first);
    expectClosed(desk, second);
  });

  test('that comes twenty times has one effect', async () => {
    const desk = await runningDesk({ actions: ['relabel', 'close', 'comment'] });
    const { number } = desk.tracker.createIssue(leadIssue());
    const body = { leadId: String(number), eventId: 'e1' };
    const ids = await Promise.all(Array.from({ length: 20 }, () => desk.send(body)));
    expect(new Set(ids).size).toBe(1);
    await desk.settled(ids[0] ?? '');
    await desk.send(body);
    expect(desk.tracker.readIssue(number)?.comments).toHaveLength(1);
    expect(writesOf(desk)).toHaveLength(2);
  });

  test('reaches a person who came back and is deleted again with the same bytes', async () => {
    const desk = await runningDesk();
    const first = desk.tracker.createIssue(leadIssue()).number;
    const id = await desk.send({ email: 'ada@example.com' });
    await desk.settled(id);
    const second = desk.tracker.createIssue(leadIssue()).number;
    expect(await desk.send({ email: 'ada@example.com' })).toBe(id);
    const receipt = await desk.settled(id);
    expect(receipt.events[0]?.leadIds).toEqual([String(first), String(second)]);
    expectClosed(desk, second);
  });

  test.each([
    ['waits for a match', () => {}],
    [
      'waits for a try at its actions',
      ({ tracker }: Desk) => {
        tracker.createIssue(leadIssue());
        tracker.fault({ kind: 'status', status: 500, method: 'PATCH', count: 1000 });
      },
    ],
  ])('that %s claims at its repeat who came meanwhile', async (_what, prepare) => {
    const desk = await runningDesk({ worker: { unmatchedWaitsMs: [HOUR], retryMs: [HOUR] } });
    prepare(desk);
    const id = await desk.send({ email: 'ada@example.com' });
    await vi.waitFor(async () => expect((await desk.read(id)).events[0]?.attempts).toBe(1));
    const { number } = desk.tracker.createIssue(leadIssue());
    expect(await desk.send({ email: 'ada@example.com' })).toBe(id);
    await vi.waitFor(async () => expect(await isClaimed(desk, number)).toBe(true));
  });

  test('of what is already so writes nothing', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue({
      ...leadIssue(),
      labels: ['Deleted-By-Partner', 'eu'],
      state: 'closed',
    });
    const receipt = await desk.settled(await desk.send({ leadId: String(number) }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(writesOf(desk)).toEqual([]);
  });
});

describe('while the tracker is down', () => {
  test('what the directory knows is claimed at once, and acted on when it is back', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.filler.catchUp();
    desk.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await desk.send({ email: 'ada@example.com', correlationId: 'of-the-partner' });
    await vi.waitFor(async () => expect(await isClaimed(desk, number)).toBe(true), {
      timeout: 1000,
      interval: 5,
    });
    expectUntouched(desk, number);
    desk.tracker.clearFaults();
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expectClosed(desk, number);
  });

  test('a claim by a lesser name is taken back when a better one finds its lead', async () => {
    const desk = await runningDesk();
    const known = desk.tracker.createIssue(leadIssue()).number;
    await desk.filler.catchUp();
    const named = desk.tracker.createIssue(leadIssue({ correlationId: 'corr-1' })).number;
    desk.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await desk.send({ email: 'ada@example.com', correlationId: 'corr-1' });
    await vi.waitFor(async () => expect(await isClaimed(desk, known)).toBe(true), { interval: 5 });
    desk.tracker.clearFaults();
    expect((await desk.settled(id)).events[0]?.leadIds).toEqual([String(named)]);
    expect(await isClaimed(desk, known)).toBe(false);
    expectUntouched(desk, known);
    expectClosed(desk, named);
  });

  test('a catch-up that fails is no try', async () => {
    const desk = await runningDesk();
    desk.tracker.fault({ kind: 'status', status: 502, count: 4, path: '/issues$' });
    const receipt = await desk.settled(await desk.send({ email: 'nobody@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'UNMATCHED', attempts: 3 });
  });

  test('nothing ends UNMATCHED before the first crawl is complete', async () => {
    const desk = await openDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.worker.start();
    const id = await desk.send({ email: 'ada@example.com' });
    const lost = await desk.send({ email: 'nobody@example.com' });
    // Far more full catch-ups than the tries after which it would end otherwise.
    await vi.waitFor(
      () => expect(desk.tracker.calls.count({ path: /issues$/ })).toBeGreaterThan(8),
      { timeout: 10_000 },
    );
    expect((await desk.read(id)).status).toBe('ACCEPTED');
    expect((await desk.read(lost)).status).toBe('ACCEPTED');
    desk.filler.start();
    expect((await desk.settled(id)).events[0]).toMatchObject({ leadIds: [String(number)] });
    expect((await desk.settled(lost)).events[0]?.outcome).toBe('UNMATCHED');
  });
});

describe('a restart', () => {
  test('takes up at once what the last process had in hand', async () => {
    const first = await openDesk();
    const { number } = first.tracker.createIssue(leadIssue());
    first.filler.start();
    const id = await first.send({ leadId: String(number) });
    // The lease of a process that died is in force: nobody gives it back.
    expect(await first.store.lease('match', Date.now(), 10)).toHaveLength(1);
    await first.stop();
    const second = await runningDesk({ of: first });
    expect((await second.settled(id)).events[0]?.outcome).toBe('DONE');
    expectClosed(second, number);
  });

  test('spends no try on a step that the stop cut short', async () => {
    const desk = await runningDesk({ requestTimeoutMs: 300 });
    const { number } = desk.tracker.createIssue(leadIssue());
    const gate = desk.tracker.hold({ path: `/issues/${number}$` });
    const id = await desk.send({ leadId: String(number) });
    await gate.arrived();
    await desk.worker.stop();
    expect((await desk.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
  });

  test('finishes the step in hand, gives the rest back, and loses nothing', async () => {
    const first = await runningDesk({ actions: ['relabel', 'close', 'comment'] });
    const numbers = [1, 2, 3].map(() => first.tracker.createIssue(leadIssue()).number);
    const gate = first.tracker.hold({ method: 'PATCH' });
    const id = await first.send({ email: 'ada@example.com' });
    await gate.arrived();
    const stopped = first.worker.stop();
    gate.open();
    await stopped;
    expect((await first.read(id)).status).toBe('ACCEPTED');
    const second = await runningDesk({ of: first, actions: ['relabel', 'close', 'comment'] });
    expect((await second.settled(id)).events[0]?.outcome).toBe('DONE');
    for (const number of numbers) {
      expectClosed(second, number);
      expect(second.tracker.readIssue(number)?.comments).toHaveLength(1);
    }
    expect(writesOf(second).filter(({ method }) => method === 'PATCH')).toHaveLength(3);
  });
});

test('a whole batch is served by one catch-up', async () => {
  const desk = await runningDesk();
  const { number } = desk.tracker.createIssue(leadIssue());
  desk.tracker.calls.clear();
  const batch = Array.from({ length: 120 }, (_, index) => ({
    eventId: String(index),
    leadId: String(number),
  }));
  await desk.settled(await desk.send(batch));
  expect(desk.tracker.calls.count({ path: /issues$/ })).toBe(1);
  expectClosed(desk, number);
});

describe('a clock that is set back by an hour', () => {
  function deskWithClock(options: Parameters<typeof openDesk>[0] = {}) {
    let offset = 0;
    const clock = { ...systemClock, now: () => Date.now() + offset };
    const setBack = (): void => {
      offset -= HOUR;
    };
    return { setBack, opening: openDesk({ ...options, clock }) };
  }

  test('makes no try wait for that hour', async () => {
    const { setBack, opening } = deskWithClock({ worker: { retryMs: [1000] } });
    const desk = await opening;
    await desk.start();
    const { number } = desk.tracker.createIssue(leadIssue());
    desk.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
    const id = await desk.send({ leadId: String(number) });
    await vi.waitFor(async () => expect((await desk.read(id)).events[0]?.attempts).toBe(1), {
      interval: 5,
    });
    setBack();
    desk.worker.wake();
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 2 });
  });

  test('makes no match wait that had begun before', async () => {
    const { setBack, opening } = deskWithClock();
    const desk = await opening;
    await desk.start();
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.filler.catchUp();
    desk.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await desk.send({ leadId: String(number) });
    await vi.waitFor(async () => expect(await isClaimed(desk, number)).toBe(true), { interval: 5 });
    setBack();
    desk.tracker.clearFaults();
    desk.worker.wake();
    expect((await desk.settled(id)).events[0]?.outcome).toBe('DONE');
  });

  test('makes no delivery wait that was accepted before a restart', async () => {
    const { setBack, opening } = deskWithClock();
    const desk = await opening;
    const { number } = desk.tracker.createIssue(leadIssue());
    const id = await desk.send({ leadId: String(number) });
    setBack();
    await desk.start();
    expect((await desk.settled(id)).events[0]?.outcome).toBe('DONE');
  });
});

describe('a repository of another name in the configuration', () => {
  /** A deletion that is matched, and whose actions a stop cut short. */
  async function cutShort(): Promise<{ desk: Desk; number: number; id: string }> {
    const desk = await runningDesk({ requestTimeoutMs: 300 });
    const { number } = desk.tracker.createIssue(leadIssue());
    const gate = desk.tracker.hold({ path: `/issues/${number}$` });
    const id = await desk.send({ leadId: String(number) });
    await gate.arrived();
    await desk.stop();
    gate.open();
    return { desk, number, id };
  }

  test('that is the old one renamed: what was begun is finished', async () => {
    const { desk, number, id } = await cutShort();
    desk.tracker.renameRepository('renamed');
    const renamed = await openDesk({ of: desk, repository: 'acme/renamed' });
    await renamed.worker.start();
    expect((await renamed.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expectClosed(renamed, number);
  });

  test('that is another one: nothing is touched there, and it can be finished later', async () => {
    const { desk, number, id } = await cutShort();
    const other = desk.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    const moved = desk.tracker.transferIssue(other, 'acme/elsewhere');
    expect(moved.number).toBe(number);
    const elsewhere = await openDesk({ of: desk, repository: 'acme/elsewhere' });
    await elsewhere.start();
    expect((await elsewhere.settled(id)).events[0]).toMatchObject({
      outcome: 'FAILED',
      lastError: 'repository-changed',
    });
    await elsewhere.stop();
    expect(desk.tracker.readIssue(number, 'acme/elsewhere')).toEqual(moved);
    const back = await runningDesk({ of: desk });
    expect(await isClaimed(back, number)).toBe(true);
    const entry = { at: Date.now(), actor: { kind: 'cli', subject: 'ops' } as const };
    await back.receipts.replay(id, { ...entry, action: 'receipt.replay', subject: 'receipt/1' });
    back.worker.wake();
    expect((await back.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expectClosed(back, number);
  });

  test('that is another one: what was claimed for now in the old one is not taken there', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    const other = desk.tracker.createIssue(leadIssue({ email: 'bob@example.com' })).number;
    await desk.filler.catchUp();
    desk.tracker.fault({ kind: 'reset', count: 1000 });
    const id = await desk.send({ email: 'ada@example.com' });
    await vi.waitFor(async () => expect(await isClaimed(desk, number)).toBe(true), { interval: 5 });
    await desk.stop();
    desk.tracker.clearFaults();
    const moved = desk.tracker.transferIssue(other, 'acme/elsewhere');
    expect(moved.number).toBe(number);
    const elsewhere = await openDesk({ of: desk, repository: 'acme/elsewhere' });
    await elsewhere.start();
    expect((await elsewhere.settled(id)).events[0]).toMatchObject({
      outcome: 'FAILED',
      lastError: 'repository-changed',
    });
    expect(desk.tracker.readIssue(number, 'acme/elsewhere')).toEqual(moved);
  });

  test('that is unknown yet while the tracker is away: the deletion waits', async () => {
    const { desk, number, id } = await cutShort();
    desk.tracker.renameRepository('renamed');
    desk.tracker.fault({ kind: 'reset', count: 1000 });
    desk.tracker.calls.clear();
    const renamed = await openDesk({ of: desk, repository: 'acme/renamed' });
    await renamed.worker.start();
    await vi.waitFor(() => expect(desk.tracker.calls.count()).toBeGreaterThan(0));
    expect((await renamed.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
    desk.tracker.clearFaults();
    expect((await renamed.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expectClosed(renamed, number);
  });
});

test('an operator who releases a lead keeps the worker from it until it is sent again', async () => {
  const desk = await runningDesk({ worker: { retryMs: [300, 20] } });
  const { number } = desk.tracker.createIssue(leadIssue());
  desk.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
  const id = await desk.send({ leadId: String(number) });
  await vi.waitFor(async () => expect((await desk.read(id)).events[0]?.attempts).toBe(1), {
    interval: 5,
  });
  await desk.claims.release(number, {
    at: Date.now(),
    actor: { kind: 'cli', subject: 'ops' },
    action: 'claim.release',
    subject: `claim/${number}`,
  });
  expect((await desk.settled(id)).events[0]).toMatchObject({
    outcome: 'UNMATCHED',
    lastError: 'claim-released',
  });
  expectUntouched(desk, number);
  expect(await desk.send({ leadId: String(number) })).toBe(id);
  expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
  expectClosed(desk, number);
  expect(await isClaimed(desk, number)).toBe(true);
});

test('the counts tell what waits and what needs a person', async () => {
  const desk = await openDesk({ token: WRITER });
  await desk.send({ leadId: '1' });
  expect(await desk.worker.status()).toMatchObject({
    state: 'stopped',
    open: 1,
    deadLetters: 0,
    oldestReceivedAt: expect.any(Number),
  });
  await desk.start();
  await vi.waitFor(async () =>
    expect(await desk.worker.status()).toMatchObject({ state: 'running', open: 0 }),
  );
});
