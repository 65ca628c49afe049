/** 403 to a write: one issue's own, or the same for all. */
import { expect, test } from 'vitest';
import { HOUR } from '#shared/clock.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';

async function runningWorld(options?: Parameters<typeof openDeletions>[0]): Promise<DeletionWorld> {
  const world = await openDeletions(options);
  await world.start();
  return world;
}

function makeLeads(world: DeletionWorld, count: number): number[] {
  return Array.from({ length: count }, () => world.tracker.createIssue(leadIssue()).number);
}

const refuse = (world: DeletionWorld, number: number | string) =>
  world.tracker.fault({
    kind: 'status',
    status: 403,
    method: 'PATCH',
    path: `/issues/${number}$`,
    count: 1000,
  });

const eventOf = async (world: DeletionWorld, id: string) => (await world.read(id)).events[0];

test('of one issue keeps nobody else waiting, and is a failed attempt of that event alone', async () => {
  const world = await runningWorld({ worker: { timing: { probeEveryMs: 100 } } });
  const [poison = 0, ...others] = makeLeads(world, 7);
  refuse(world, poison);
  const first = await world.send({ leadId: poison });
  const rest = await Promise.all(others.map((leadId) => world.send({ leadId })));
  for (const id of rest)
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
  expect((await world.settled(first)).events[0]).toMatchObject({
    outcome: 'FAILED',
    lastError: 'forbidden',
    attempts: 7,
  });
  expect((await world.partners.workerStatus()).state).toBe('running');
});

test('of two issues in a row is a failed attempt of each, and pauses nothing', async () => {
  const world = await runningWorld({ worker: { retryMs: [HOUR] } });
  const [poison = 0, second = 0, third = 0] = makeLeads(world, 3);
  for (const number of [poison, second]) refuse(world, number);
  const ids = await Promise.all([poison, second].map((leadId) => world.send({ leadId })));
  for (const id of ids)
    await eventually(async () =>
      expect(await eventOf(world, id)).toMatchObject({ attempts: 1, lastError: 'forbidden' }),
    );
  expect((await world.partners.workerStatus()).state).toBe('running');
  const good = await world.settled(await world.send({ leadId: third }));
  expect(good.events[0]).toMatchObject({ outcome: 'DONE' });
});

test('of one lead leaves the other leads of the person none the worse', async () => {
  const world = await runningWorld({ worker: { retryMs: [HOUR] } });
  const [poison = 0, other = 0] = makeLeads(world, 2);
  refuse(world, poison);
  const id = await world.send({ email: 'ada@example.com' });
  await eventually(async () => expect((await eventOf(world, id))?.attempts).toBe(1));
  expect(world.tracker.readIssue(other)?.state).toBe('closed');
  expect(await eventOf(world, id)).toMatchObject({ outcome: 'PENDING', lastError: 'forbidden' });
  expect((await world.partners.workerStatus()).state).toBe('running');
});

test('of three issues in a row stops all writes until a probe gets through', async () => {
  const world = await runningWorld({ worker: { timing: { probeEveryMs: 50 } } });
  const leads = makeLeads(world, 8);
  await world.filler.catchUp();
  refuse(world, '\\d+');
  const ids = await Promise.all(leads.map((leadId) => world.send({ leadId })));
  const writes = () => world.tracker.calls.count({ method: 'PATCH' });
  await eventually(() => expect(writes()).toBeGreaterThan(5));
  expect(await world.partners.workerStatus()).toMatchObject({
    state: 'paused',
    reason: 'forbidden',
  });
  const attempts = async () =>
    (await Promise.all(ids.map((id) => eventOf(world, id))))
      .map((event) => event?.attempts ?? 0)
      .sort((left, right) => left - right);
  // The first two were taken for matters of their own.
  expect(await attempts()).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);
  world.tracker.clearFaults();
  for (const id of ids) expect((await world.settled(id)).events[0]?.outcome).toBe('DONE');
  expect(await attempts()).toEqual([1, 1, 1, 1, 1, 1, 2, 2]);
  expect((await world.partners.workerStatus()).state).toBe('running');
});

test('of three issues in a row keeps no other event from being the probe, though they would go first', async () => {
  const world = await runningWorld({
    worker: { timing: { probeEveryMs: 50 }, retryMs: [HOUR] },
    privacy: ['redact'],
  });
  const persons = ['1', '2', '3'];
  for (const id of persons)
    refuse(world, world.tracker.createIssue(leadIssue({ externalIds: { 'crm-two': id } })).number);
  const [other = 0] = makeLeads(world, 1);
  await world.filler.catchUp();
  for (const objectId of persons)
    await world.send({ objectId, subscriptionType: 'contact.privacyDeletion' }, 'crm-two');
  const state = async () => (await world.partners.workerStatus()).state;
  await eventually(async () => expect(await state()).toBe('paused'));
  const { events } = await world.settled(await world.send({ leadId: other }));
  expect(events[0]).toMatchObject({ outcome: 'DONE' });
});

test('of three issues in a row pauses all until a write gets through, though a deletion goes before the probe', async () => {
  const world = await runningWorld({
    worker: { timing: { probeEveryMs: HOUR }, retryMs: [HOUR] },
    events: { 'crm-one': [{ type: '*', addLabels: ['won'] }] },
  });
  const leads = makeLeads(world, 5);
  await world.filler.catchUp();
  refuse(world, '\\d+');
  for (const leadId of leads.slice(0, 3)) await world.send({ leadId });
  const status = () => world.partners.workerStatus();
  await eventually(async () => expect((await status()).state).toBe('paused'));
  const { pausedSince } = await status();
  for (const [leadId, path] of [
    [leads[3], 'events'],
    [leads[4], 'deletions'],
  ] as const) {
    const id = await world.send({ leadId }, 'crm-one', path);
    await eventually(async () =>
      expect((await eventOf(world, id))?.history).toMatchObject([{ what: 'matched' }]),
    );
  }
  const refusals = () => world.tracker.calls.count({ method: 'PATCH' });
  for (let probes = 0; probes < 4; probes += 1) {
    const before = refusals();
    await eventually(() => {
      world.partners.onReload(); // the probe before may not have ended yet
      expect(refusals()).toBeGreaterThan(before);
    });
  }
  await eventually(async () =>
    expect(await status()).toMatchObject({ state: 'paused', pausedSince }),
  );
});
