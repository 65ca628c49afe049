/** At the tracker deletions go before events, and before all those that redact or delete. */
import { expect, test } from 'vitest';
import { type Clock, HOUR, systemClock } from '#shared/clock.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';

const writeIntervalMs = 2 * HOUR;

/** Every wait for the turn to write is over at once; the worker's first write waits for one, too. */
async function openWorld() {
  let onTurn = async (): Promise<void> => undefined;
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms, options) => {
      const isTurn = ms > HOUR && ms <= writeIntervalMs;
      if (!isTurn) return systemClock.sleep(ms, options);
      const act = onTurn;
      onTurn = async () => undefined;
      await act();
    },
  };
  const world = await openDeletions({
    clock,
    worker: { writeIntervalMs },
    actions: ['relabel', 'close'],
    privacy: ['relabel', 'close', 'redact'],
    events: { 'crm-one': [{ type: '*', addLabels: ['won'] }] },
  });
  await world.start();
  const leads = [1, 2, 3, 4, 5].map(
    (id) => world.tracker.createIssue(leadIssue({ externalIds: { 'crm-two': `${id}` } })).number,
  );
  await world.filler.catchUp();
  return {
    world,
    leads,
    onFirstTurn: (act: () => Promise<void>) => {
      onTurn = act;
    },
  };
}

/** Numbers of the issues that were written, in order. */
const writtenIn = (world: DeletionWorld): number[] =>
  world.tracker.calls.entries
    .filter(({ method }) => method === 'PATCH')
    .map(({ path }) => Number(/\d+$/.exec(path)?.[0]));

const isMatched = (world: DeletionWorld, id: string) =>
  eventually(async () =>
    expect((await world.read(id)).events[0]?.history).toMatchObject([{ what: 'matched' }]),
  );

test('a deletion that comes while events wait is written next, a privacy deletion before it', async () => {
  const { world, leads, onFirstTurn } = await openWorld();
  const [first = 0, second = 0, third = 0, deleted = 0, erased = 0] = leads;
  const ids: string[] = [];
  onFirstTurn(async () => {
    ids.push(await world.send({ leadId: deleted }));
    ids.push(
      await world.send({ objectId: 5, subscriptionType: 'contact.privacyDeletion' }, 'crm-two'),
    );
    for (const id of ids.slice(-2)) await isMatched(world, id);
  });
  const events = [first, second, third].map((leadId) => ({ leadId }));
  ids.push(await world.send(events, 'crm-one', 'events'));
  await eventually(() => expect(ids).toHaveLength(3));
  for (const id of ids) expect((await world.settled(id)).status).toBe('PROCESSED');
  expect(writtenIn(world)).toEqual([erased, deleted, first, second, third]);
});

test('an event that was overtaken has spent no try, and leaves alone the lead that the deletion took', async () => {
  const { world, leads, onFirstTurn } = await openWorld();
  const [first = 0, second = 0, third = 0] = leads;
  let deletion = '';
  onFirstTurn(async () => {
    deletion = await world.send({ leadId: second });
    await isMatched(world, deletion);
  });
  const events = [first, second, third].map((leadId) => ({ leadId }));
  const id = await world.send(events, 'crm-one', 'events');
  expect((await world.settled(id)).events).toMatchObject([
    { outcome: 'DONE', attempts: 1 },
    { outcome: 'IGNORED', lastError: 'lead-claimed' },
    { outcome: 'DONE', attempts: 1 },
  ]);
  expect(writtenIn(world)).toEqual([second, first, third]);
  expect((await world.settled(deletion)).status).toBe('PROCESSED');
});

test('a deletion that waits for its next try keeps no event waiting', async () => {
  const { world, leads } = await openWorld();
  const [refused = 0, other = 0] = leads;
  world.tracker.fault({
    kind: 'status',
    status: 500,
    method: 'PATCH',
    path: `/issues/${refused}$`,
    count: 3,
  });
  const deletion = await world.send({ leadId: refused });
  const event = await world.send({ leadId: other }, 'crm-one', 'events');
  expect((await world.settled(event)).status).toBe('PROCESSED');
  expect((await world.settled(deletion)).status).toBe('PROCESSED');
});
