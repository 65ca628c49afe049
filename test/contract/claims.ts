import type { DirectoryStore } from '#leads/lead-store.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { rulesCheckOf } from '#leads/directory/lead-directory.ts';
import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-leads.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { type TestClaims } from '../support/claims.ts';
import { directoryKey, entry, leadRules, REPOSITORY_ID } from '../support/directory.ts';
import { adoptRepository, putEntries } from '#leads/directory/write-directory.ts';

/** Leads that an event claims, by default event 1 at instant 0. */
export type TestClaim = {
  numbers: readonly number[];
  event?: number;
  at?: number;
  repositoryId?: number;
};

type Withdrawal = {
  repositoryId: number;
  receiptId: string;
  event: number;
  numbers: readonly number[];
};

/** Engine of the contract. Everything is released when the running test ends. */
type ClaimsFixture = {
  claimsOf(repository: string): TestClaims;
  directory: DirectoryStore;
  /** As the worker does, under the receipt `receipt-<event>`. */
  claim(claim: TestClaim): Promise<void>;
  /** The same in a transaction that fails with `undo`. */
  claimAndFail(claim: TestClaim): Promise<void>;
  withdraw(order: Withdrawal): Promise<void>;
  auditOf(subject: string): Promise<AuditEntry[]>;
  /** Another instance of the service on the same data. */
  elsewhere(): Promise<{ claim(claim: TestClaim): Promise<void>; claims: TestClaims }>;
  /** The store is not to be had any more. */
  close(): Promise<void>;
};

type Open = () => Promise<ClaimsFixture>;

const releaseOf = (number: number, at: number): AuditEntry => ({
  at,
  actor: { kind: 'cli', subject: 'ops' },
  action: 'claim.release',
  subject: `claim/${number}`,
});

/** One body for every engine: what claims promise. */
export function describeClaims(engine: string, open: Open): void {
  async function setUp() {
    const fixture = await open();
    const { directory } = fixture;
    const openAs = (repositoryId: number): Promise<void> =>
      adoptRepository(directory, repositoryId, {
        rules: rulesCheckOf(leadRules, directoryKey),
        at: 0,
      });
    await openAs(REPOSITORY_ID);
    return { fixture, directory, openAs, claims: fixture.claimsOf('Acme/Leads') };
  }

  describe(`claims on ${engine}`, () => {
    describe('the view', () => {
      test('is the same object while no claim changes, whatever else is written', async () => {
        const { claims, directory } = await setUp();
        const first = await claims.current();
        await putEntries(directory, [entry(1)]);
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
        await other.claims.release(5, releaseOf(5, 10));
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
        await claims.release(1, releaseOf(1, 5));
        expect((await claims.current()).has(1)).toBe(false);
        const { items } = await claims.list({ limit: 10 });
        expect(items.map(({ leadId }) => leadId)).toEqual(['2']);
        expect(await fixture.auditOf('claim/1')).toEqual([releaseOf(1, 5)]);
      });

      test('of a lead that nobody claimed changes nothing and leaves no trace', async () => {
        const { claims, fixture } = await setUp();
        await expect(claims.release(1, releaseOf(1, 5))).rejects.toMatchObject({
          code: 'not-found',
        });
        expect(await fixture.auditOf('claim/1')).toEqual([]);
      });

      test('under a name that the store does not know yet releases only what was claimed under it', async () => {
        const { claims, fixture } = await setUp();
        await fixture.claim({ numbers: [1] });
        const renamed = fixture.claimsOf('acme/renamed');
        await expect(renamed.release(1, releaseOf(1, 5))).rejects.toMatchObject({
          code: 'not-found',
        });
        expect((await claims.current()).has(1)).toBe(true);
        await fixture.claim({ numbers: [2], repositoryId: REPOSITORY_NOT_KNOWN });
        await renamed.release(2, releaseOf(2, 5));
        expect((await renamed.list({ limit: 10 })).items.map(({ leadId }) => leadId)).toEqual([
          '1',
        ]);
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
  });
}
