/** 403 to a write: one issue's own, or the same for all. */
import { expect, test, vi } from 'vitest';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';
import type { Desk } from '../../support/deletion-desk.ts';

async function runningDesk(options?: Parameters<typeof openDesk>[0]): Promise<Desk> {
  const desk = await openDesk(options);
  await desk.start();
  return desk;
}

function makeLeads(desk: Desk, count: number): number[] {
  return Array.from({ length: count }, () => desk.tracker.createIssue(leadIssue()).number);
}

const refuse = (desk: Desk, number: number | string) =>
  desk.tracker.fault({
    kind: 'status',
    status: 403,
    method: 'PATCH',
    path: `/issues/${number}$`,
    count: 1000,
  });

const eventOf = async (desk: Desk, id: string) => (await desk.read(id)).events[0];

test('of one issue keeps nobody else waiting, and is a failed attempt of that event alone', async () => {
  const desk = await runningDesk({ worker: { probeEveryMs: 100 } });
  const [poison = 0, ...others] = makeLeads(desk, 7);
  refuse(desk, poison);
  const first = await desk.send({ leadId: poison });
  const rest = await Promise.all(others.map((leadId) => desk.send({ leadId })));
  for (const id of rest)
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
  expect((await desk.settled(first)).events[0]).toMatchObject({
    outcome: 'FAILED',
    lastError: 'forbidden',
    attempts: 7,
  });
  expect((await desk.worker.status()).state).toBe('running');
});

test('of the only issue there is pauses nobody, and is a failed attempt of its event', async () => {
  const desk = await runningDesk({ worker: { retryMs: [5, HOUR], probeEveryMs: HOUR } });
  const [poison = 0] = makeLeads(desk, 1);
  refuse(desk, poison);
  const id = await desk.send({ leadId: poison });
  await vi.waitFor(async () => expect((await eventOf(desk, id))?.attempts).toBe(2), 5000);
  expect(await eventOf(desk, id)).toMatchObject({ outcome: 'PENDING', lastError: 'forbidden' });
  expect((await desk.worker.status()).state).toBe('running');
});

test('of two issues is judged by the next, also when a probe is long in coming', async () => {
  const desk = await runningDesk({ worker: { retryMs: [HOUR], probeEveryMs: HOUR } });
  const [poison = 0, second = 0, third = 0] = makeLeads(desk, 3);
  for (const number of [poison, second]) refuse(desk, number);
  const ids = [await desk.send({ leadId: poison })];
  await vi.waitFor(async () => expect((await eventOf(desk, ids[0] ?? ''))?.attempts).toBe(1));
  ids.push(await desk.send({ leadId: second }));
  await vi.waitFor(async () =>
    expect(await desk.worker.status()).toMatchObject({ state: 'paused', reason: 'forbidden' }),
  );
  const good = await desk.settled(await desk.send({ leadId: third }));
  expect(good.events[0]).toMatchObject({ outcome: 'DONE' });
  await vi.waitFor(async () => expect((await desk.worker.status()).state).toBe('running'));
  const events = await Promise.all(ids.map((id) => eventOf(desk, id)));
  expect(events).toMatchObject([
    { outcome: 'PENDING', attempts: 1 },
    { outcome: 'PENDING', attempts: 0, lastError: 'forbidden' },
  ]);
});

test('of one lead leaves the other leads of the person none the worse', async () => {
  const desk = await runningDesk({ worker: { retryMs: [HOUR] } });
  const [poison = 0, other = 0] = makeLeads(desk, 2);
  refuse(desk, poison);
  const id = await desk.send({ email: 'ada@example.com' });
  await vi.waitFor(async () => expect((await eventOf(desk, id))?.attempts).toBe(1), 5000);
  expect(desk.tracker.readIssue(other)?.state).toBe('closed');
  expect(await eventOf(desk, id)).toMatchObject({ outcome: 'PENDING', lastError: 'forbidden' });
  expect((await desk.worker.status()).state).toBe('running');
});

test('of three issues in a row stops all writes until a probe gets through', async () => {
  const desk = await runningDesk({ worker: { probeEveryMs: 50 } });
  const leads = makeLeads(desk, 8);
  await desk.filler.catchUp();
  refuse(desk, '\\d+');
  const ids = await Promise.all(leads.map((leadId) => desk.send({ leadId })));
  const writes = () => desk.tracker.calls.count({ method: 'PATCH' });
  await vi.waitFor(() => expect(writes()).toBeGreaterThan(5), 5000);
  expect(await desk.worker.status()).toMatchObject({ state: 'paused', reason: 'forbidden' });
  const attempts = async () =>
    (await Promise.all(ids.map((id) => eventOf(desk, id))))
      .map((event) => event?.attempts ?? 0)
      .sort((left, right) => left - right);
  // The first one was taken for a matter of its own.
  expect(await attempts()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  desk.tracker.clearFaults();
  for (const id of ids) expect((await desk.settled(id)).events[0]?.outcome).toBe('DONE');
  expect(await attempts()).toEqual([1, 1, 1, 1, 1, 1, 1, 2]);
  expect((await desk.worker.status()).state).toBe('running');
});

test('stops after three issues without a probe, so that a lost right costs few calls', async () => {
  const desk = await runningDesk({ worker: { probeEveryMs: MINUTE } });
  const leads = makeLeads(desk, 8);
  await desk.filler.catchUp();
  refuse(desk, '\\d+');
  const ids = await Promise.all(leads.map((leadId) => desk.send({ leadId })));
  await vi.waitFor(() => expect(desk.tracker.calls.count({ method: 'PATCH' })).toBe(3), 5000);
  await vi.waitFor(async () => {
    const events = await Promise.all(ids.map((id) => eventOf(desk, id)));
    expect(events.filter((event) => event?.lastError === 'forbidden')).toHaveLength(3);
  });
  expect(desk.tracker.calls.count({ method: 'PATCH' })).toBe(3);
});
