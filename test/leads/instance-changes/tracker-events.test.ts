/** An instance that the tracker tells of a change, and the others, which learn of it from there. */
import { expect, onTestFinished, test } from 'vitest';
import { createChangeLog, createInstanceChanges, noOthers } from '#leads/instance-changes.ts';
import type { TrackerEvent } from '#leads/lead-tracker.ts';
import type { Database } from '#shared/database.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { createFakeTracker } from '../fake-tracker.ts';
import { createWorld, type World } from '../support.ts';

const EVERYTHING: TrackerEvent = { kind: 'everything' };

/** Instances on one store, before one tracker. `applied`: what their directories were told. */
async function setUp() {
  const clock = createFakeClock();
  const tracker = createFakeTracker(clock);
  const database = await temporaryPostgres();
  const instance = (name: string, db: Database = database) => {
    const applied: TrackerEvent[] = [];
    const gaps: string[] = [];
    const changes = createChangeLog(db, { instanceId: name });
    const instanceChanges = createInstanceChanges({ changes, clock, log: silentLog });
    onTestFinished(() => instanceChanges.close());
    const filler = {
      identify: async () => undefined,
      apply: (event: TrackerEvent) => void applied.push(event),
      takeRead: () => undefined,
      settled: async () => undefined,
    };
    const onGap = (): void => void gaps.push(name);
    const world = createWorld({ clock, tracker, filler, instanceChanges, onGap });
    return { ...world, applied, gaps, instanceChanges };
  };
  const first = instance('first');
  const second = instance('second');
  await Promise.all([first.followed, second.followed]);
  /** Until what the first has published has come to the second. */
  const pass = async (): Promise<void> => {
    await first.leads.settled();
    await second.instanceChanges.becomeCurrent();
  };
  return { clock, tracker, database, first, second, pass };
}

async function titlesOf(world: World): Promise<string[]> {
  const { value } = await world.list();
  return value.items.map(({ title }) => title);
}

/** Both have the page in memory. */
async function readByBoth(world: Awaited<ReturnType<typeof setUp>>): Promise<void> {
  world.tracker.open({ title: 'Former' });
  for (const one of [world.first, world.second]) expect(await titlesOf(one)).toEqual(['Former']);
}

test('an event of an issue: at once where it came, and then on the others, whose directory has it from the store', async () => {
  const world = await setUp();
  await readByBoth(world);
  await world.clock.advance(1000);
  const issue = world.tracker.change(1, { title: 'Now' });
  world.first.leads.applyEvent({ kind: 'issue', issue, isGone: false });
  expect(await titlesOf(world.first)).toEqual(['Now']);
  await world.pass();
  expect(await titlesOf(world.second)).toEqual(['Now']);
  expect(world.first.applied).toEqual([{ kind: 'issue', issue, isGone: false }]);
  expect(world.second.applied).toEqual([]);
});

test('an event of everything: the others ask anew which repository the name means, too', async () => {
  const world = await setUp();
  await readByBoth(world);
  await world.clock.advance(1000);
  world.tracker.change(1, { title: 'Now' });
  world.first.leads.applyEvent(EVERYTHING);
  await world.pass();
  for (const one of [world.first, world.second]) {
    expect(await titlesOf(one)).toEqual(['Now']);
    expect(one.applied).toEqual([EVERYTHING]);
  }
});

test('an event that says nothing is told to nobody', async () => {
  const { first, database } = await setUp();
  first.leads.applyEvent({ kind: 'ignored' });
  await first.leads.settled();
  expect(await database.all('SELECT position FROM change_batch')).toEqual([]);
});

test('changes that were missed: all that is in memory is stale, and that is counted', async () => {
  const world = await setUp();
  await readByBoth(world);
  await world.clock.advance(1000);
  world.tracker.change(1, { title: 'Now' });
  await world.database.exec("INSERT INTO change_batch VALUES (300, 'third', '[]')");
  await world.second.instanceChanges.becomeCurrent();
  expect(await titlesOf(world.second)).toEqual(['Now']);
  expect(world.second.applied).toEqual([EVERYTHING]);
  expect(world.second.gaps).toEqual(['second']);
});

test('the directory has an event before the others are told of it', () => {
  const order: string[] = [];
  const { leads } = createWorld({
    filler: {
      identify: async () => undefined,
      apply: () => void order.push('directory'),
      takeRead: () => undefined,
      settled: async () => undefined,
    },
    instanceChanges: { ...noOthers, publish: () => void order.push('others') },
  });
  leads.applyEvent(EVERYTHING);
  expect(order).toEqual(['directory', 'others']);
});

test('nothing that an event contradicts is served, also when the directory fails at it', async () => {
  const world = createWorld({
    filler: {
      identify: async () => undefined,
      apply: () => {
        throw new Error('broken');
      },
      takeRead: () => undefined,
      settled: async () => undefined,
    },
  });
  world.tracker.open({ title: 'Former' });
  expect(await titlesOf(world)).toEqual(['Former']);
  await world.clock.advance(1000);
  world.tracker.change(1, { title: 'Now' });
  expect(() => world.leads.applyEvent(EVERYTHING)).toThrow('broken');
  expect(await titlesOf(world)).toEqual(['Now']);
});
