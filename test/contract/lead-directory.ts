import { beforeEach, describe, expect, test } from 'vitest';
import { hashIdentity, type IdentityKind, rulesCheckOf } from '#leads/directory/lead-directory.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import {
  type LeadDirectory,
  directoryKey,
  entry,
  leadRules,
  REPOSITORY_ID,
} from '../support/directory.ts';
import { email } from '../support/identities.ts';

/** Engine of the contract. Everything is released when the running test ends. */
type LeadDirectoryFixture = {
  directory: LeadDirectory;
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
    let directory: LeadDirectory;

    beforeEach(async () => {
      fixture = await open();
      ({ directory } = fixture);
    });

    test('knows nothing, and takes nothing, before it is opened', async () => {
      await directory.put([entry(1, { identities: [ADA] })]);
      await directory.completeCrawl(5);
      expect(await directory.repositoryId()).toBeUndefined();
      expect(await directory.state()).toBeUndefined();
      await directory.open(REPOSITORY_ID, checks, 0);
      expect(await directory.has(1)).toBe(false);
      expect(await fixture.find(hash(ADA))).toEqual([]);
    });

    test('is crawled from its opening on, until the crawl is complete', async () => {
      await directory.open(REPOSITORY_ID, checks, 7);
      const started = { crawl: 1, isCrawling: true, startedAt: 7, issues: 0, reached: 0 };
      expect(await directory.state()).toEqual({ ...started, caughtUpTo: 0 });
      await directory.putCrawled([entry(1), entry(2)], 50);
      await directory.putCrawled([entry(3)], 40);
      expect(await directory.state()).toMatchObject({ issues: 3, reached: 50, caughtUpTo: 0 });
      await directory.completeCrawl(60);
      await directory.putCaughtUp([entry(4)], 55);
      const ended = { isCrawling: false, completedAt: 60, caughtUpTo: 55 };
      expect(await directory.state()).toMatchObject(ended);
      await directory.startCrawl(90);
      const next = { crawl: 2, isCrawling: true, startedAt: 90, issues: 0, reached: 0 };
      expect(await directory.state()).toMatchObject({ ...next, completedAt: 60 });
    });

    test('keeps its rows whenever it is opened, and is crawled anew for other rules', async () => {
      await directory.open(REPOSITORY_ID, checks, 0);
      await directory.put([entry(1, { identities: [ADA] })]);
      await directory.open(REPOSITORY_ID, checks, 5);
      expect(await fixture.find(hash(ADA))).toEqual([1]);
      expect(await directory.state()).toMatchObject({ crawl: 1 });
      await directory.open(REPOSITORY_ID, Buffer.alloc(16, 1), 6);
      expect(await fixture.find(hash(ADA))).toEqual([1]);
      expect(await directory.state()).toMatchObject({ crawl: 2, isCrawling: true, startedAt: 6 });
    });

    describe('once it is open', () => {
      beforeEach(() => directory.open(REPOSITORY_ID, checks, 0));

      test('finds every lead of a person, in ascending order', async () => {
        await directory.put([9, 10, 2].map((number) => entry(number, { identities: [ADA] })));
        expect(await fixture.find(hash(ADA))).toEqual([2, 9, 10]);
        expect(await fixture.find(hash(EVE))).toEqual([]);
      });

      test('adds the identities that an edit brings, and keeps those that it takes away', async () => {
        await directory.put([entry(1, { identities: [ADA], updatedAt: 5 })]);
        await directory.put([entry(1, { identities: [EVE], updatedAt: 4 })]);
        await directory.put([entry(1, { identities: [EVE, EVE], updatedAt: 6 })]);
        expect(await fixture.find(hash(ADA))).toEqual([1]);
        expect(await fixture.find(hash(EVE))).toEqual([1]);
        expect(await directory.updatedAt(1)).toBe(6);
      });

      test('finds a lead by what an older rule gave, whose kind counts once today’s rule gives it, too', async () => {
        await directory.put([entry(1, { identities: [ADA, EVE] })]);
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
        await directory.putCrawled([entry(1, { identities: [ADA] })], 0);
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
        await directory.put([young, old, entry(2)]);
        expect(await directory.updatedAt(1)).toBe(9);
        await directory.put([old, young]);
        expect(await directory.updatedAt(1)).toBe(9);
        expect(await directory.updatedAt(7)).toBeUndefined();
      });

      test('tells what a crawl has not met, but for what moved or is claimed', async () => {
        await directory.put([1, 2, 3, 4].map((number) => entry(number)));
        await directory.noteMoved(2);
        await fixture.claim(3);
        await directory.startCrawl(9);
        await directory.putCrawled([entry(4)], 10);
        expect(await directory.unseen(0)).toEqual({ numbers: [1], next: 4 });
        expect(await directory.unseen(4)).toEqual({ numbers: [] });
      });

      test('drops a row with its identities, unless the lead is claimed', async () => {
        for (const number of [1, 2]) await directory.put([entry(number, { identities: [ADA] })]);
        await fixture.claim(2);
        for (const number of [1, 2, 3]) await directory.remove(number);
        expect([await directory.has(1), await directory.has(2)]).toEqual([false, true]);
        expect(await fixture.find(hash(ADA))).toEqual([2]);
      });
    });
  });
}
