import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createClaimWriter } from '#adapters/sqlite/claims/write.ts';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { createClaimStore } from '#adapters/sqlite/claims/claim-store.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { temporaryDatabase, connectTo } from '../../../support/stores.ts';
import {
  claimLeads,
  entry,
  openedDirectory,
  REPOSITORY,
  REPOSITORY_ID,
} from '../../../support/directory.ts';

const releaseOf = (number: number, at: number): AuditEntry => ({
  at,
  actor: { kind: 'cli', subject: 'ops' },
  action: 'claim.release',
  subject: `claim/${number}`,
});

const everything = { since: 0, labels: [], limit: 100 };

async function setUp() {
  const database = temporaryDatabase();
  const directory = await openedDirectory(database);
  const claims = createClaimStore(database, { repository: 'Acme/Leads' });
  return { database, directory, claims };
}

describe('the view', () => {
  test('is the same object while no claim changes, whatever else is written', async () => {
    const { claims, directory } = await setUp();
    const first = await claims.current();
    await directory.put([entry(1)]);
    expect(await claims.current()).toBe(first);
    expect(first.has(1)).toBe(false);
  });

  test('shows a claim from its commit on, by another object', async () => {
    const { claims, database } = await setUp();
    const before = await claims.current();
    claimLeads(database, { numbers: [1, 3] });
    const after = await claims.current();
    expect([1, 2, 3].filter((number) => after.has(number))).toEqual([1, 3]);
    expect(after).not.toBe(before);
    claimLeads(database, { numbers: [2], event: 2 });
    expect((await claims.current()).has(2)).toBe(true);
  });

  test('shows claims and releases of another process', async () => {
    const { claims, database } = await setUp();
    await claims.current();
    const other = connectTo(database.handle.name);
    claimLeads(other, { numbers: [5] });
    await nextTurn();
    expect((await claims.current()).has(5)).toBe(true);
    const elsewhere = createClaimStore(other, { repository: REPOSITORY });
    expect(await elsewhere.release(5, releaseOf(5, 10))).toBe(1);
    await nextTurn();
    expect((await claims.current()).has(5)).toBe(false);
  });

  test('does not show what was rolled back', async () => {
    const { claims, database } = await setUp();
    const undo = () =>
      database.transaction(() => {
        claimLeads(database, { numbers: [1] });
        throw new Error('undo');
      });
    expect(undo).toThrow('undo');
    expect((await claims.current()).has(1)).toBe(false);
    claimLeads(database, { numbers: [2] });
    expect((await claims.current()).has(2)).toBe(true);
  });

  test('counts the claims of every repository until the configured one is known', async () => {
    const { database } = await setUp();
    claimLeads(database, { numbers: [1] });
    const renamed = createClaimStore(database, { repository: 'acme/renamed' });
    expect((await renamed.current()).has(1)).toBe(true);
  });

  test('leaves the claims of another repository of the same name behind', async () => {
    const { database, claims } = await setUp();
    claimLeads(database, { numbers: [1] });
    expect((await claims.current()).has(1)).toBe(true);
    await openedDirectory(database, 99);
    expect((await claims.current()).has(1)).toBe(false);
    await openedDirectory(database, REPOSITORY_ID);
    expect((await claims.current()).has(1)).toBe(true);
  });

  test('rejects without the store', async () => {
    const { claims, database } = await setUp();
    await claims.current();
    database.close();
    await expect(claims.current()).rejects.toBeInstanceOf(Error);
  });
});

describe('releasing', () => {
  test('gives back a lead that several events claimed', async () => {
    const { claims, database } = await setUp();
    claimLeads(database, { numbers: [1], event: 1 });
    claimLeads(database, { numbers: [1, 2], event: 2 });
    expect(await claims.release(1, releaseOf(1, 5))).toBe(2);
    expect((await claims.current()).has(1)).toBe(false);
    const { items } = await claims.list({ limit: 10 });
    expect(items.map(({ number }) => number)).toEqual([2]);
    expect(createAuditLog(database).listOf('claim/1')).toEqual([releaseOf(1, 5)]);
  });

  test('of a lead that nobody claimed changes nothing and leaves no trace', async () => {
    const { claims, database } = await setUp();
    expect(await claims.release(1, releaseOf(1, 5))).toBe(0);
    expect(createAuditLog(database).listOf('claim/1')).toEqual([]);
  });

  test('is not undone by the event that had claimed, but by a new one', async () => {
    const { claims, database } = await setUp();
    claimLeads(database, { numbers: [1], event: 1 });
    await claims.release(1, releaseOf(1, 5));
    claimLeads(database, { numbers: [1], event: 1 });
    expect((await claims.current()).has(1)).toBe(false);
    claimLeads(database, { numbers: [1], event: 2 });
    expect((await claims.current()).has(1)).toBe(true);
  });

  test('what one event withdraws stays claimed for another', async () => {
    const { claims, database } = await setUp();
    claimLeads(database, { numbers: [1], event: 1 });
    claimLeads(database, { numbers: [1], event: 2 });
    const order = { repositoryId: REPOSITORY_ID, receiptId: 'receipt-1', event: 1, numbers: [1] };
    createClaimWriter(database).withdraw(order);
    expect((await claims.current()).has(1)).toBe(true);
    createClaimWriter(database).withdraw({ ...order, receiptId: 'receipt-2', event: 2 });
    expect((await claims.current()).has(1)).toBe(false);
  });
});

describe('removals', () => {
  test('tell of approved leads only, oldest first, each once', async () => {
    const { claims, database, directory } = await setUp();
    await directory.put([entry(1), entry(2, { approved: false, labels: [] }), entry(3)]);
    claimLeads(database, { numbers: [3], event: 1, at: 10 });
    claimLeads(database, { numbers: [1, 2], event: 2, at: 20 });
    claimLeads(database, { numbers: [3], event: 3, at: 30 });
    expect(await claims.listRemovals(everything)).toEqual([
      { number: 3, removedAt: 10 },
      { number: 1, removedAt: 20 },
    ]);
  });

  test('follow the labels that the lead had when it went out of sight', async () => {
    const { claims, database, directory } = await setUp();
    await directory.put([entry(1, { labels: ['approved', 'eu'] }), entry(2)]);
    claimLeads(database, { numbers: [1, 2], at: 10 });
    const ofEurope = { ...everything, labels: ['eu', 'approved'] };
    expect(await claims.listRemovals(ofEurope)).toEqual([{ number: 1, removedAt: 10 }]);
  });

  test('start at `since`, go on behind a removal, and stop at the limit', async () => {
    const { claims, database, directory } = await setUp();
    await directory.put([1, 2, 3, 4].map((number) => entry(number)));
    claimLeads(database, { numbers: [1], event: 1, at: 9 });
    claimLeads(database, { numbers: [2, 3], event: 2, at: 10 });
    claimLeads(database, { numbers: [4], event: 3, at: 11 });
    const numbersOf = async (query: object) =>
      (await claims.listRemovals({ ...everything, ...query })).map(({ number }) => number);
    expect(await numbersOf({ since: 10 })).toEqual([2, 3, 4]);
    expect(await numbersOf({ limit: 2 })).toEqual([1, 2]);
    expect(await numbersOf({ after: { removedAt: 10, number: 2 } })).toEqual([3, 4]);
  });

  test('come behind those that were there before, also with the clock set back', async () => {
    const { claims, database, directory } = await setUp();
    await directory.put([1, 2, 3, 4].map((number) => entry(number)));
    claimLeads(database, { numbers: [9], event: 1, at: 500 });
    claimLeads(database, { numbers: [4], event: 2, at: 1000 });
    const [newest] = await claims.listRemovals(everything);
    claimLeads(database, { numbers: [3], event: 3, at: 40 });
    claimLeads(database, { numbers: [2], event: 4, at: 1000 });
    if (!newest) throw new Error('the first removal is missing');
    const later = await claims.listRemovals({ ...everything, after: newest });
    expect(later.map(({ number }) => number)).toEqual([3, 2]);
    expect(Math.min(...later.map(({ removedAt }) => removedAt))).toBeGreaterThan(1000);
    const { items } = await claims.list({ limit: 10 });
    expect(items.map(({ claimedAt }) => claimedAt)).toEqual([1000, 40, 1000, 500]);
  });

  test('come behind one that was taken back or given back since', async () => {
    const { claims, database, directory } = await setUp();
    await directory.put([1, 2, 3].map((number) => entry(number)));
    claimLeads(database, { numbers: [1], event: 1, at: 1000 });
    await claims.release(1, releaseOf(1, 1001));
    claimLeads(database, { numbers: [2], event: 2, at: 2000 });
    const order = { repositoryId: REPOSITORY_ID, receiptId: 'receipt-2', event: 2, numbers: [2] };
    createClaimWriter(database).withdraw(order);
    claimLeads(database, { numbers: [3], event: 3, at: 40 });
    expect(await claims.listRemovals({ ...everything, since: 2000 })).toEqual([
      { number: 3, removedAt: 2001 },
    ]);
  });

  test('lose what an operator gave back', async () => {
    const { claims, database, directory } = await setUp();
    await directory.put([entry(1)]);
    claimLeads(database, { numbers: [1], at: 10 });
    await claims.release(1, releaseOf(1, 20));
    expect(await claims.listRemovals(everything)).toEqual([]);
  });
});
