import { expect, test } from 'vitest';
import { receiptsIn } from '../../../support/partners.ts';
import { rulesCheckOf } from '#leads/directory/lead-directory.ts';
import type { NewReceipt } from '#partners/intake/accept-delivery.ts';
import { newUuid } from '#shared/ids.ts';
import { createClaims } from '../../../support/claims.ts';
import {
  leadStoreIn,
  directoryKey,
  entry,
  leadRules,
  REPOSITORY_ID,
} from '../../../support/directory.ts';
import { connectToPostgres, migratedPostgres } from '../../../support/postgres/database.ts';
import { adoptRepository, putEntries } from '#leads/directory/write-directory.ts';

const LEADS = 30;

/** Two instances of the service on one database whose directory knows some leads. */
async function setUp() {
  const own = await migratedPostgres();
  const databases = [await connectToPostgres(own), await connectToPostgres(own)] as const;
  const [database] = databases;
  const directory = leadStoreIn(database);
  await adoptRepository(directory, REPOSITORY_ID, {
    rules: rulesCheckOf(leadRules, directoryKey),
    at: 0,
  });
  await putEntries(
    directory,
    Array.from({ length: LEADS }, (_, index) => entry(index + 1)),
  );
  const instances = databases.map((one) => ({
    receipts: receiptsIn(one),
    claims: createClaims(one),
  }));
  return { database, instances };
}

function deletionOf(number: number, receivedAt = 1): NewReceipt {
  return {
    id: newUuid(),
    partnerId: 'crm-one',
    path: 'deletions',
    eventType: 'lead.deletion',
    correlationId: 'c',
    receivedAt,
    createdBefore: receivedAt,
    events: [
      {
        position: 0,
        sameEventKey: Buffer.from(`of ${number}`),
        outcome: 'PENDING',
        names: [{ kind: 'lead-id', number }],
        payload: Buffer.from('bytes'),
        digest: Buffer.alloc(32),
      },
    ],
  };
}

test('an event that comes to two instances at once is one event with one receipt', async () => {
  const { database, instances } = await setUp();
  for (let number = 1; number <= 10; number += 1) {
    const accepted = await Promise.all(
      [...instances, ...instances].map(({ receipts }) => receipts.accept(deletionOf(number))),
    );
    expect(accepted.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(new Set(accepted.map(({ receipt }) => receipt.id)).size).toBe(1);
  }
  expect(await database.all('SELECT count(*) AS receipts FROM receipt')).toEqual([
    { receipts: 10 },
  ]);
});

test('what one instance has accepted is hidden by every instance from then on', async () => {
  const { instances } = await setUp();
  const [one, other] = instances;
  if (!one || !other) throw new Error('two instances');
  for (let number = 1; number <= LEADS; number += 1) {
    expect((await other.claims.current()).has(number)).toBe(false);
    await one.receipts.accept(deletionOf(number));
    expect((await other.claims.current()).has(number)).toBe(true);
  }
});
