import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { acceptEvent, receiptsIn, workIn, type WorkScope } from '../../../support/partners.ts';
import { createClaims } from '../../../support/claims.ts';
import { leadStoreIn, openedDirectory, REPOSITORY } from '../../../support/directory.ts';
import { describeWork } from '../../../contract/work.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';
import { auditOf } from '../../../support/audit.ts';
import { forgetLeases, leaseEvents } from '#partners/worker/lease-events.ts';
import { createChangeProbe } from '#partners/worker/loops.ts';

async function setUp() {
  const database = temporaryDatabase();
  const directory = await openedDirectory(database, [1, 2, 3]);
  const receipts = receiptsIn(database);
  const store = workIn(database);
  const accept = (text: string, at = 0): Promise<string> =>
    acceptEvent(receipts, { at, sameEventKey: Buffer.from(text), payload: Buffer.from(text) });
  return { database, directory, receipts, store, accept };
}

async function leaseOne(store: WorkScope, stage: 'match' | 'act' = 'match', now = 0) {
  const [item] = await leaseEvents(store, stage, { now, limit: 1 });
  if (!item) throw new Error('nothing is due');
  return item;
}

test('a worker can begin while another process writes for a moment', async () => {
  const { database, store, accept } = await setUp();
  await accept('a');
  await leaseOne(store);
  const other = connectTo(database.handle.name).handle;
  other.exec('BEGIN IMMEDIATE');
  const begun = forgetLeases(store, 0);
  await nextTurn();
  await nextTurn();
  other.exec('ROLLBACK');
  await begun;
  expect(await leaseOne(store)).toMatchObject({ attempts: 0 });
});

test('what another process may have queued is noticed once', async () => {
  const { database, accept } = await setUp();
  const hasChanged = createChangeProbe(database);
  await accept('a');
  await hasChanged();
  expect(await hasChanged()).toBe(false);
  connectTo(database.handle.name).handle.exec('UPDATE event SET attempts = 1');
  expect(await hasChanged()).toBe(true);
  expect(await hasChanged()).toBe(false);
});

describeWork('SQLite', async () => {
  const database = temporaryDatabase();
  const repository = REPOSITORY;
  return {
    storeWith: (key) => workIn(database, { key }),
    receiptsWith: (key) => receiptsIn(database, { key }),
    directory: leadStoreIn(database, { repository }),
    auditOf: async (subject) => auditOf(database, subject),
    claims: createClaims(database, { repository }),
    failProgress: async () =>
      void database.writing.handle.exec(
        `CREATE TEMP TRIGGER broken BEFORE UPDATE OF progress ON event
         BEGIN SELECT RAISE(ABORT, 'no'); END`,
      ),
    countPayloads: async () =>
      Number(database.handle.prepare('SELECT count(payload) FROM event').pluck().get()),
  };
});
