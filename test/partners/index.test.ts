/** Partners as `createPartners` puts them together: nothing here moves the clock, so a worker sleeps until it is woken. */
import type { Database } from '#shared/database.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { ownWork } from '#partners/worker/background-work.ts';
import { createFakeClock } from '../support/clock.ts';
import { settleEvent } from '../support/partners.ts';
import { temporaryDatabase } from '../support/stores.ts';
import { eventually } from '../support/eventually.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';
import { openWorld, type World } from '../support/world.ts';

/** Of a directory that is complete and empty; `begin` is called when it is to be filled. */
function emptyFiller(begin: () => void): DirectoryFiller {
  return {
    start: begin,
    stop: async () => undefined,
    identify: async () => undefined,
    catchUp: async () => ({ isComplete: true }),
    readStatus: async () => undefined,
    status: () => ({ state: 'complete', issues: 0 }),
  } as unknown as DirectoryFiller;
}

/** Partners that work, and how often the worker has looked for events to match. */
async function startPartners({ prepare = async (_world: World) => undefined } = {}) {
  const database = temporaryDatabase();
  const fill = vi.fn<() => void>();
  const filler = emptyFiller(fill);
  let looks = 0;
  const db: Database = {
    ...database,
    // Then nobody else is noticed.
    dataVersion: () => Promise.reject(new Error('not now')),
    get: (sql, values = {}) => {
      if (values['stage'] === 'match' && 'limit' in values) looks += 1;
      return database.get(sql, values);
    },
  };
  await prepare(openWorld({ database }));
  const { deliver, partners } = openWorld({ database, filler, db });
  onTestFinished(() => partners.stop());
  await partners.start();
  await eventually(() => expect(looks).toBe(1));
  return { database, deliver, partners, fill, looks: () => looks };
}

/** A receipt whose event needs a person. */
async function addDeadLetter({ deliver, work }: World): Promise<undefined> {
  await deliver({ externalId: 'x-1' });
  const now = createFakeClock().now();
  const [item] = await leaseEvents(work, 'match', { now, limit: 1 });
  if (!item) throw new Error('nothing is due');
  await settleEvent(work, item, { outcome: 'FAILED', attempts: 1 }, now);
}

describe('the worker is woken at once', () => {
  test('by a delivery', async () => {
    const { deliver, looks } = await startPartners();
    await deliver({ externalId: 'x-1' });
    await eventually(() => expect(looks()).toBeGreaterThan(1));
  });

  test.each(['one receipt', 'all receipts'])('by a replay of %s', async (which) => {
    const { looks, partners } = await startPartners({ prepare: addDeadLetter });
    const [receipt] = (await partners.receipts.list({ filter: {}, limit: 1 })).items;
    const origin = { actor: { kind: 'cli', subject: 'ada' } } as const;
    const { queued } =
      which === 'one receipt'
        ? await partners.receipts.replay(receipt?.id ?? '', origin)
        : await partners.receipts.replayAll({}, origin);
    expect(queued).toBe(1);
    await eventually(() => expect(looks()).toBeGreaterThan(1));
  });
});

describe('of two instances on one store', () => {
  test('the second stands by, says so, and leaves the directory alone', async () => {
    const { database } = await startPartners();
    const fill = vi.fn<() => void>();
    const filler = emptyFiller(fill);
    const workerLease = { ...ownWork, take: async () => false };
    const second = openWorld({ database, filler, workerLease }).partners;
    onTestFinished(() => second.stop());
    await second.start();
    expect((await second.workerStatus()).state).toBe('standby');
    second.onReload();
    expect(fill).not.toHaveBeenCalled();
  });

  test('the one that works fills the directory', async () => {
    const { fill } = await startPartners();
    expect(fill).toHaveBeenCalledTimes(1);
  });
});
