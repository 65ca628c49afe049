import { type DirectoryStore, readRepositoryId } from '#leads/lead-store.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { hashIdentity, type IdentityKind, rulesCheckOf } from '#leads/directory/lead-directory.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import { directoryKey, entry, leadRules, REPOSITORY_ID, isKnown } from '../support/directory.ts';
import { email } from '../support/identities.ts';
import {
  completeCrawl,
  noteMoved,
  adoptRepository,
  putCaughtUp,
  putCrawled,
  putEntries,
  removeEntry,
  startCrawl,
} from '#leads/directory/write-directory.ts';
import { readDirectoryState, readUnseen, readUpdatedAt } from '#leads/directory/directory-view.ts';

/** Engine of the contract. Everything is released when the running test ends. */
type LeadDirectoryFixture = {
  directory: DirectoryStore;
  /** Numbers of the leads with this identity, as a match finds them. */
  find(hash: Buffer): Promise<readonly number[]>;
  identitiesOf(number: number): Promise<readonly { kind: IdentityKind | null; hash: Buffer }[]>;
  /** As if all identities had been read by an older version of the rules. */
  age(): Promise<void>;
  /** Claims the lead as the worker does. */
  claim(number: number): Promise<void>;
};

type Open = () => Promise<LeadDirectoryFixture>;

const ADA = email('ada@example.com');
const EVE = email('eve@example.com');
const hash = (identity: LeadIdentity): Buffer => hashIdentity(directoryKey, identity);
const checks = rulesCheckOf(leadRules, directoryKey);

/** One body for every engine: what the lead directory promises. */
export function describeLeadDirectory(engine: string, open: Open): void {
  describe(`lead directory on ${engine}`, () => {
    let fixture: LeadDirectoryFixture;
    let directory: DirectoryStore;

    beforeEach(async () => {
      fixture = await open();
      ({ directory } = fixture);
    });

    test('knows nothing, and takes nothing, before it is opened', async () => {
      await putEntries(directory, [entry(1, { identities: [ADA] })]);
      await completeCrawl(directory, 5);
      expect(await readRepositoryId(directory.db, directory.repository)).toBeUndefined();
      expect(await readDirectoryState(directory)).toBeUndefined();
      await adoptRepository(directory, REPOSITORY_ID, { rules: checks, at: 0 });
      expect(await isKnown(directory, 1)).toBe(false);
      expect(await fixture.find(hash(ADA))).toEqual([]);
    });

    test('is crawled from its opening on, until the crawl is complete', async () => {
      await adoptRepository(directory, REPOSITORY_ID, { rules: checks, at: 7 });
      const started = { crawl: 1, isCrawling: true, startedAt: 7, issues: 0, reached: 0 };
      expect(await readDirectoryState(directory)).toEqual({ ...started, caughtUpTo: 0 });
      await putCrawled(directory, [entry(1), entry(2)], 50);
      await putCrawled(directory, [entry(3)], 40);
      expect(await readDirectoryState(directory)).toMatchObject({
        issues: 3,
        reached: 50,
        caughtUpTo: 0,
      });
      await completeCrawl(directory, 60);
      await putCaughtUp(directory, [entry(4)], 55);
      const ended = { isCrawling: false, completedAt: 60, caughtUpTo: 55 };
      expect(await readDirectoryState(directory)).toMatchObject(ended);
      await startCrawl(directory, 90);
      const next = { crawl: 2, isCrawling: true, startedAt: 90, issues: 0, reached: 0 };
      expect(await readDirectoryState(directory)).toMatchObject({ ...next, completedAt: 60 });
    });

    test('keeps its rows whenever it is opened, and is crawled anew for other rules', async () => {
      await adoptRepository(directory, REPOSITORY_ID, { rules: checks, at: 0 });
      await putEntries(directory, [entry(1, { identities: [ADA] })]);
      await adoptRepository(directory, REPOSITORY_ID, { rules: checks, at: 5 });
      expect(await fixture.find(hash(ADA))).toEqual([1]);
      expect(await readDirectoryState(directory)).toMatchObject({ crawl: 1 });
      await adoptRepository(directory, REPOSITORY_ID, { rules: Buffer.alloc(16, 1), at: 6 });
      expect(await fixture.find(hash(ADA))).toEqual([1]);
      expect(await readDirectoryState(directory)).toMatchObject({
        crawl: 2,
        isCrawling: true,
        startedAt: 6,
      });
    });

    describe('once it is open', () => {
      beforeEach(() => adoptRepository(directory, REPOSITORY_ID, { rules: checks, at: 0 }));

      test('finds every lead of a person, in ascending order', async () => {
        await putEntries(
          directory,
          [9, 10, 2].map((number) => entry(number, { identities: [ADA] })),
        );
        expect(await fixture.find(hash(ADA))).toEqual([2, 9, 10]);
        expect(await fixture.find(hash(EVE))).toEqual([]);
      });

      test('adds the identities that an edit brings, and keeps those that it takes away', async () => {
        await putEntries(directory, [entry(1, { identities: [ADA], updatedAt: 5 })]);
        await putEntries(directory, [entry(1, { identities: [EVE], updatedAt: 4 })]);
        await putEntries(directory, [entry(1, { identities: [EVE, EVE], updatedAt: 6 })]);
        expect(await fixture.find(hash(ADA))).toEqual([1]);
        expect(await fixture.find(hash(EVE))).toEqual([1]);
        expect(await readUpdatedAt(directory, 1)).toBe(6);
      });

      test('finds a lead by what an older rule gave, whose kind counts once today’s rule gives it, too', async () => {
        await putEntries(directory, [entry(1, { identities: [ADA, EVE] })]);
        await fixture.age();
        const kinds = async () =>
          (await fixture.identitiesOf(1)).map((identity) => [identity.hash, identity.kind]);
        expect(await kinds()).toEqual(
          expect.arrayContaining([
            [hash(ADA), null],
            [hash(EVE), null],
          ]),
        );
        await fixture.claim(1);
        await putCrawled(directory, [entry(1, { identities: [ADA] })], 0);
        expect(await kinds()).toEqual(
          expect.arrayContaining([
            [hash(ADA), 'email'],
            [hash(EVE), null],
          ]),
        );
        expect(await fixture.find(hash(EVE))).toEqual([1]);
      });

      test('takes an issue that stands twice on a page as the newer of both', async () => {
        const [old, young] = [entry(1, { updatedAt: 4 }), entry(1, { updatedAt: 9 })];
        await putEntries(directory, [young, old, entry(2)]);
        expect(await readUpdatedAt(directory, 1)).toBe(9);
        await putEntries(directory, [old, young]);
        expect(await readUpdatedAt(directory, 1)).toBe(9);
        expect(await readUpdatedAt(directory, 7)).toBeUndefined();
      });

      test('tells what a crawl has not met, but for what moved or is claimed', async () => {
        await putEntries(
          directory,
          [1, 2, 3, 4].map((number) => entry(number)),
        );
        await noteMoved(directory, 2);
        await fixture.claim(3);
        await startCrawl(directory, 9);
        await putCrawled(directory, [entry(4)], 10);
        expect(await readUnseen(directory, 0)).toEqual({ numbers: [1], next: 4 });
        expect(await readUnseen(directory, 4)).toEqual({ numbers: [] });
      });

      test('drops a row with its identities, unless the lead is claimed', async () => {
        for (const number of [1, 2])
          await putEntries(directory, [entry(number, { identities: [ADA] })]);
        await fixture.claim(2);
        for (const number of [1, 2, 3]) await removeEntry(directory, number);
        expect([await isKnown(directory, 1), await isKnown(directory, 2)]).toEqual([false, true]);
        expect(await fixture.find(hash(ADA))).toEqual([2]);
      });
    });
  });
}
