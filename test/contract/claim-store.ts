import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ClaimStore } from '#leads/claims/claim-store.ts';
import { type LeadDirectory, rulesCheckOf } from '#leads/directory/lead-directory.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { directoryKey, entry, leadRules, REPOSITORY_ID } from '../support/directory.ts';

/** Leads that an event claims, by default event 1 at instant 0. */
export type TestClaim = { numbers: readonly number[]; event?: number; at?: number };

type Withdrawal = {
  repositoryId: number;
  receiptId: string;
  event: number;
  numbers: readonly number[];
};

/** What the contract needs of an engine. Everything is released when the running test ends. */
type ClaimStoreFixture = {
  claimsOf(repository: string): ClaimStore;
  directory: LeadDirectory;
  /** As the worker does, under the receipt `receipt-<event>`. */
  claim(claim: TestClaim): Promise<void>;
  /** The same in a transaction that fails with `undo`. */
  claimAndFail(claim: TestClaim): Promise<void>;
  withdraw(order: Withdrawal): Promise<void>;
  auditOf(subject: string): Promise<AuditEntry[]>;
  /** Another instance of the service on the same data. */
  elsewhere(): Promise<{ claim(claim: TestClaim): Promise<void>; claims: ClaimStore }>;
  /** The store is not to be had any more. */
  close(): Promise<void>;
};

type Open = () => Promise<ClaimStoreFixture>;

const releaseOf = (number: number, at: number): AuditEntry => ({
  at,
  actor: { kind: 'cli', subject: 'ops' },
  action: 'claim.release',
  subject: `claim/${number}`,
});

const everything = { since: 0, labels: [], limit: 100 };

/** One body for every engine: what `ClaimStore` promises. */
export function describeClaimStore(engine: string, open: Open): void {
  async function setUp() {
    const fixture = await open();
    const { directory } = fixture;
    const openAs = (repositoryId: number): Promise<void> =>
      directory.open(repositoryId, rulesCheckOf(leadRules, directoryKey), 0);
    await openAs(REPOSITORY_ID);
    return { fixture, directory, openAs, claims: fixture.claimsOf('Acme/Leads') };
  }

  describe(`claim store on ${engine}`, () => {
    describe('the view', () => {
      test('is the same object while no claim changes, whatever else is written', async () => {
        const { claims, directory } = await setUp();
        const first = await claims.current();
        await directory.put([entry(1)]);
        expect(await claims.current()).toBe(first);
        expect(first.has(1)).toBe(false);
      });

      test('shows a claim from its commit on, by another object', async () => {
        const { claims, fixture } = await setUp();
        const before = await claims.current();
        await fixture.claim({ numbers: [1, 3] });
        const after = await claims.current();
        expect([1, 2, 3].filter((number) => after.has(number))).toEqual([1, 3]);
        expect(after).not.toBe(before);
        await fixture.claim({ numbers: [2], event: 2 });
        expect((await claims.current()).has(2)).toBe(true);
      });

      test('shows claims and releases of another process', async () => {
        const { claims, fixture } = await setUp();
        await claims.current();
        const other = await fixture.elsewhere();
        await other.claim({ numbers: [5] });
        await nextTurn();
        expect((await claims.current()).has(5)).toBe(true);
        expect(await other.claims.release(5, releaseOf(5, 10))).toBe(1);
        await nextTurn();
        expect((await claims.current()).has(5)).toBe(false);
      });

      test('does not show what was rolled back', async () => {
        const { claims, fixture } = await setUp();
        await expect(fixture.claimAndFail({ numbers: [1] })).rejects.toThrow('undo');
        expect((await claims.current()).has(1)).toBe(false);
        await fixture.claim({ numbers: [2] });
        expect((await claims.current()).has(2)).toBe(true);
      });

      test('counts the claims of every repository until the configured one is known', async () => {
        const { fixture } = await setUp();
        await fixture.claim({ numbers: [1] });
        const renamed = fixture.claimsOf('acme/renamed');
        expect((await renamed.current()).has(1)).toBe(true);
      });

      test('leaves the claims of another repository of the same name behind', async () => {
        const { fixture, claims, openAs } = await setUp();
        await fixture.claim({ numbers: [1] });
        expect((await claims.current()).has(1)).toBe(true);
        await openAs(99);
        expect((await claims.current()).has(1)).toBe(false);
        await openAs(REPOSITORY_ID);
        expect((await claims.current()).has(1)).toBe(true);
      });

      test('rejects without the store', async () => {
        const { claims, fixture } = await setUp();
        await claims.current();
        await fixture.close();
        await expect(claims.current()).rejects.toBeInstanceOf(Error);
      });
    });

    describe('releasing', () => {
      test('gives back a lead that several events claimed', async () => {
        const { claims, fixture } = await setUp();
        await fixture.claim({ numbers: [1], event: 1 });
        await fixture.claim({ numbers: [1, 2], event: 2 });
        expect(await claims.release(1, releaseOf(1, 5))).toBe(2);
        expect((await claims.current()).has(1)).toBe(false);
        const { items } = await claims.list({ limit: 10 });
        expect(items.map(({ number }) => number)).toEqual([2]);
        expect(await fixture.auditOf('claim/1')).toEqual([releaseOf(1, 5)]);
      });

      test('of a lead that nobody claimed changes nothing and leaves no trace', async () => {
        const { claims, fixture } = await setUp();
        expect(await claims.release(1, releaseOf(1, 5))).toBe(0);
        expect(await fixture.auditOf('claim/1')).toEqual([]);
      });

      test('is not undone by the event that had claimed, but by a new one', async () => {
        const { claims, fixture } = await setUp();
        await fixture.claim({ numbers: [1], event: 1 });
        await claims.release(1, releaseOf(1, 5));
        await fixture.claim({ numbers: [1], event: 1 });
        expect((await claims.current()).has(1)).toBe(false);
        await fixture.claim({ numbers: [1], event: 2 });
        expect((await claims.current()).has(1)).toBe(true);
      });

      test('what one event withdraws stays claimed for another', async () => {
        const { claims, fixture } = await setUp();
        await fixture.claim({ numbers: [1], event: 1 });
        await fixture.claim({ numbers: [1], event: 2 });
        const order = {
          repositoryId: REPOSITORY_ID,
          receiptId: 'receipt-1',
          event: 1,
          numbers: [1],
        };
        await fixture.withdraw(order);
        expect((await claims.current()).has(1)).toBe(true);
        await fixture.withdraw({ ...order, receiptId: 'receipt-2', event: 2 });
        expect((await claims.current()).has(1)).toBe(false);
      });
    });

    describe('removals', () => {
      test('tell of approved leads only, oldest first, each once', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([entry(1), entry(2, { isApproved: false, labels: [] }), entry(3)]);
        await fixture.claim({ numbers: [3], event: 1, at: 10 });
        await fixture.claim({ numbers: [1, 2], event: 2, at: 20 });
        await fixture.claim({ numbers: [3], event: 3, at: 30 });
        expect(await claims.listRemovals(everything)).toEqual([
          { number: 3, removedAt: 10 },
          { number: 1, removedAt: 20 },
        ]);
      });

      test('tell everybody who could ever read the lead, whatever it was like in the end', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([
          entry(1, { labels: ['approved', 'eu'], updatedAt: 1 }),
          entry(1, { labels: ['approved', 'vip'], updatedAt: 2 }),
          entry(1, { isApproved: false, labels: ['spam'], updatedAt: 3 }),
          entry(2, { isApproved: false, labels: ['eu', 'vip'] }),
        ]);
        await directory.put([
          entry(3, { isApproved: false, labels: ['spam'], updatedAt: 9 }),
          entry(3, { labels: ['approved', 'late'], updatedAt: 8 }), // an older state, late
          entry(4, {
            isApproved: false,
            labels: ['spam'],
            updatedAt: 7,
            carried: ['approved', 'gone'],
          }),
        ]);
        await directory.remove(1); // the issue is gone, and is deleted by its number
        await fixture.claim({ numbers: [1, 2, 3, 4], at: 10 });
        const toldTo = async (...labels: string[]) =>
          (await claims.listRemovals({ ...everything, labels })).map(({ number }) => number);
        expect(await toldTo()).toEqual([1, 3, 4]);
        expect(await toldTo('vip', 'eu')).toEqual([1]);
        expect([await toldTo('spam'), await toldTo('late'), await toldTo('gone')]).toEqual([
          [],
          [3],
          [4],
        ]);
      });

      test('do so once more for a lead that was given back and approved again', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([entry(1, { labels: ['approved', 'eu'], updatedAt: 1 })]);
        await fixture.claim({ numbers: [1], event: 1, at: 10 });
        await claims.release(1, releaseOf(1, 20));
        await directory.put([entry(1, { labels: ['approved', 'vip'], updatedAt: 2 })]);
        await directory.put([entry(1, { isApproved: false, labels: [], updatedAt: 3 })]);
        await fixture.claim({ numbers: [1], event: 2, at: 30 });
        for (const labels of [['eu'], ['vip']])
          expect(await claims.listRemovals({ ...everything, labels })).toEqual([
            { number: 1, removedAt: 30 },
          ]);
      });

      test('know a label by each of its names, and who could read by it since', async () => {
        const { claims, fixture, directory } = await setUp();
        const approvedLabel = 'approved';
        await directory.put([
          entry(1, { labels: ['approved', 'west'] }),
          entry(2, { isApproved: false, labels: ['ok', 'west'] }),
          entry(3, { isApproved: false, labels: ['west'] }),
          entry(4, { labels: ['approved'] }),
        ]);
        await fixture.claim({ numbers: [4], event: 1, at: 5 });
        await directory.renameLabel({ from: 'west', to: 'vest', approvedLabel });
        await directory.renameLabel({ from: 'approved', to: 'once approved', approvedLabel });
        await directory.renameLabel({ from: 'vest', to: 'unread', approvedLabel });
        await directory.renameLabel({ from: 'ok', to: 'approved', approvedLabel });
        await fixture.claim({ numbers: [1, 2, 3], event: 2, at: 10 });
        const toldTo = async (...labels: string[]) =>
          (await claims.listRemovals({ ...everything, labels })).map(({ number }) => number);
        expect(await toldTo()).toEqual([4, 1, 2]);
        expect(await toldTo('vest')).toEqual([1]);
        expect([await toldTo('west'), await toldTo('unread')]).toEqual([[1], [2]]);
        await directory.renameLabel({ from: 'spam', to: 'none', approvedLabel });
      });

      test('keep a history of a thousand labels at most, each name of it', async () => {
        const { claims, fixture, directory } = await setUp();
        const names = (from: number, count: number) =>
          Array.from({ length: count }, (_, at) => `label-${String(from + at)}`);
        for (let from = 0; from < 1200; from += 100)
          await directory.put([
            entry(1, { labels: ['approved', ...names(from, 100)], updatedAt: from }),
          ]);
        await fixture.claim({ numbers: [1], at: 10 });
        const isTold = async (label: string) =>
          (await claims.listRemovals({ ...everything, labels: [label] })).length === 1;
        expect([await isTold('label-0'), await isTold('label-998')]).toEqual([true, true]);
        expect(await isTold('label-1150')).toBe(false);
      });

      test('follow the labels that the lead had when it went out of sight', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([entry(1, { labels: ['approved', 'eu'] }), entry(2)]);
        await fixture.claim({ numbers: [1, 2], at: 10 });
        const ofEurope = { ...everything, labels: ['eu', 'approved'] };
        expect(await claims.listRemovals(ofEurope)).toEqual([{ number: 1, removedAt: 10 }]);
      });

      test('tell of what the directory learnt too late, behind all that was read before', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([1, 2, 3].map((number) => entry(number, { isApproved: number === 2 })));
        await fixture.claim({ numbers: [1, 2, 3], at: Date.now() + 60_000 });
        const [newest] = await claims.listRemovals(everything);
        if (!newest) throw new Error('the first removal is missing');
        const labels = ['approved', 'eu'];
        await directory.put([entry(1, { labels, updatedAt: 5 })]);
        await directory.put([entry(2, { labels, updatedAt: 5 })]);
        await directory.put([entry(2, { labels: ['approved'], updatedAt: 6 })]);
        await directory.put([entry(3, { isApproved: false, labels, updatedAt: 7 })]);
        await directory.put([entry(3, { labels, updatedAt: 6 })]); // an older state, late
        const ofEurope = { ...everything, labels: ['eu'], after: newest };
        const later = await claims.listRemovals(ofEurope);
        expect(later.map(({ number }) => number)).toEqual([1, 2, 3]);
        expect(new Set(later.map(({ removedAt }) => removedAt)).size).toBe(3);
        await directory.put([entry(1, { isApproved: false, labels: [], updatedAt: 8 })]);
        expect(await claims.listRemovals(ofEurope)).toEqual(later);
      });

      test('start at `since`, go on behind a removal, and stop at the limit', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([1, 2, 3, 4].map((number) => entry(number)));
        await fixture.claim({ numbers: [1], event: 1, at: 9 });
        await fixture.claim({ numbers: [2, 3], event: 2, at: 10 });
        await fixture.claim({ numbers: [4], event: 3, at: 11 });
        const numbersOf = async (query: object) =>
          (await claims.listRemovals({ ...everything, ...query })).map(({ number }) => number);
        expect(await numbersOf({ since: 10 })).toEqual([2, 3, 4]);
        expect(await numbersOf({ limit: 2 })).toEqual([1, 2]);
        expect(await numbersOf({ after: { removedAt: 10, number: 2 } })).toEqual([3, 4]);
      });

      test('come behind those that were there before, also with the clock set back', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([1, 2, 3, 4].map((number) => entry(number)));
        await fixture.claim({ numbers: [9], event: 1, at: 500 });
        await fixture.claim({ numbers: [4], event: 2, at: 1000 });
        const [newest] = await claims.listRemovals(everything);
        await fixture.claim({ numbers: [3], event: 3, at: 40 });
        await fixture.claim({ numbers: [2], event: 4, at: 1000 });
        if (!newest) throw new Error('the first removal is missing');
        const later = await claims.listRemovals({ ...everything, after: newest });
        expect(later.map(({ number }) => number)).toEqual([3, 2]);
        expect(Math.min(...later.map(({ removedAt }) => removedAt))).toBeGreaterThan(1000);
        const { items } = await claims.list({ limit: 10 });
        expect(items.map(({ claimedAt }) => claimedAt)).toEqual([1000, 40, 1000, 500]);
      });

      test('come behind one that was taken back or given back since', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([1, 2, 3].map((number) => entry(number)));
        await fixture.claim({ numbers: [1], event: 1, at: 1000 });
        await claims.release(1, releaseOf(1, 1001));
        await fixture.claim({ numbers: [2], event: 2, at: 2000 });
        const order = {
          repositoryId: REPOSITORY_ID,
          receiptId: 'receipt-2',
          event: 2,
          numbers: [2],
        };
        await fixture.withdraw(order);
        await fixture.claim({ numbers: [3], event: 3, at: 40 });
        expect(await claims.listRemovals({ ...everything, since: 2000 })).toEqual([
          { number: 3, removedAt: 2001 },
        ]);
      });

      test('lose what an operator gave back', async () => {
        const { claims, fixture, directory } = await setUp();
        await directory.put([entry(1)]);
        await fixture.claim({ numbers: [1], at: 10 });
        await claims.release(1, releaseOf(1, 20));
        expect(await claims.listRemovals(everything)).toEqual([]);
      });
    });
  });
}
