import { describe, expect, test } from 'vitest';
import { withdrawClaims } from '#leads/claims/claim-leads.ts';
import type { Database } from '#shared/database.ts';
import { changeFor } from '#leads/lead-feed/lead-change.ts';
import { rulesCheckOf } from '#leads/directory/lead-directory.ts';
import { REPLICA_LAG_MAX_MS } from '#leads/lead-tracker.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import { createClaims } from '../support/claims.ts';
import {
  leadStoreIn,
  claimLeads,
  directoryKey,
  entry,
  leadRules,
  REPOSITORY,
  REPOSITORY_ID,
} from '../support/directory.ts';
import { isFeedFollowed, putFollowerNote, findFollowerNote } from '#leads/lead-feed/followers.ts';
import {
  type FeedPlace,
  readChangesAfter,
  readFeedEnd,
  readEra,
  hideLeadNow,
  noteReadLeads,
} from '#leads/lead-feed/stored-changes.ts';
import {
  completeCrawl,
  noteMoved,
  adoptRepository,
  putCaughtUp,
  putCrawled,
  putEntries,
  removeEntry,
  renameLabel,
  startCrawl,
} from '#leads/directory/write-directory.ts';

const NOW = 100 * DAY;
const START: FeedPlace = [-1, 0];
const LABELS = { approvedLabel: 'approved', deletedLabel: 'deleted' };
const DIGEST = Buffer.alloc(16, 1);
const OTHER_DIGEST = Buffer.alloc(16, 2);

/** One body for every engine: what the lead feed promises. */
export function describeLeadFeedStore(engine: string, open: () => Promise<Database>): void {
  async function setUp() {
    const database = await open();
    const clock = { now: NOW };
    const now = (): number => clock.now;
    const directory = leadStoreIn(database, { now });
    await adoptRepository(directory, REPOSITORY_ID, {
      rules: rulesCheckOf(leadRules, directoryKey),
      at: NOW,
    });
    const feed = leadStoreIn(database, { repository: 'Acme/Leads', now });
    const read = (place: FeedPlace = START) => readChangesAfter(feed, place, 100);
    const end = async (): Promise<FeedPlace> => (await readFeedEnd(feed)) ?? START;
    /** Changes for a reader by these labels: `+` that it is there, `-` that it went. */
    const since = async (place: FeedPlace, labels: readonly string[] = []) =>
      (await read(place)).flatMap((change) => {
        const told = changeFor(change, labels);
        if (!told || told.at <= place[0]) return [];
        return told.hasLeft ? `-${change.number}` : `+${change.number}`;
      });
    return { database, clock, directory, feed, read, end, since };
  }

  describe(`lead feed store on ${engine}`, () => {
    test('has no end before the repository is known', async () => {
      const feed = leadStoreIn(await open(), { repository: REPOSITORY, now: () => NOW });
      expect(await readFeedEnd(feed)).toBeUndefined();
    });

    test('a lead comes once, where it changed last, and an equal state is no change', async () => {
      const { directory, since, end } = await setUp();
      await putEntries(directory, [entry(1), entry(2)]);
      await putEntries(directory, [entry(3)]);
      expect(await since(START)).toEqual(['+1', '+2', '+3']);
      const before = await end();
      await putEntries(directory, [entry(1)]);
      expect(await since(before)).toEqual([]);
      await putEntries(directory, [entry(1, { updatedAt: 5 })]);
      expect(await since(before)).toEqual(['+1']);
      expect(await since(START)).toEqual(['+2', '+3', '+1']);
    });

    test('a state that is met again is no change, and another one of the same second is', async () => {
      const { directory, since, end } = await setUp();
      const state = { updatedAt: NOW, leadDigest: DIGEST };
      await putEntries(directory, [entry(1, state)]);
      let before = await end();
      await putEntries(directory, [entry(1, state)]);
      await putCaughtUp(directory, [entry(1, state)], NOW);
      await putCrawled(directory, [entry(1, state)], NOW);
      expect(await since(before)).toEqual([]);
      await putEntries(directory, [entry(1, { ...state, leadDigest: OTHER_DIGEST })]);
      expect(await since(before)).toEqual(['+1']);
      before = await end();
      await putEntries(directory, [entry(1, { ...state, updatedAt: NOW - 1, leadDigest: DIGEST })]); // older
      await putEntries(directory, [entry(1, { ...state, leadDigest: OTHER_DIGEST })]);
      expect(await since(before)).toEqual([]);
    });

    test('what a list has shown is no change when it is met', async () => {
      const { directory, feed, since, end } = await setUp();
      const lead = { number: 1, updatedAt: NOW, labels: ['approved'], leadDigest: DIGEST };
      expect([...(await noteReadLeads(feed, [lead]))]).toEqual([[1, NOW]]);
      const before = await end();
      await putEntries(directory, [entry(1, { updatedAt: NOW, leadDigest: DIGEST })]);
      expect(await since(before)).toEqual([]);
      expect([...(await noteReadLeads(feed, [lead]))]).toEqual([[1, NOW]]);
      await putEntries(directory, [entry(1, { updatedAt: NOW, leadDigest: OTHER_DIGEST })]);
      expect(await since(before)).toEqual(['+1']);
      expect([...(await noteReadLeads(feed, [lead]))]).toEqual([]);
    });

    test('what a list has shown before anybody met it is a change for others, at once and once', async () => {
      const { directory, feed, since, end, clock } = await setUp();
      await putEntries(directory, [entry(1, { updatedAt: NOW, leadDigest: DIGEST })]);
      const before = await end();
      clock.now += 1;
      const lead = {
        number: 1,
        updatedAt: NOW + 1,
        labels: ['approved'],
        leadDigest: OTHER_DIGEST,
      };
      expect([...(await noteReadLeads(feed, [lead]))]).toEqual([[1, NOW + 1]]);
      expect(await since(before)).toEqual(['+1']);
      const told = await end();
      await putEntries(directory, [entry(1, { updatedAt: NOW + 1, leadDigest: OTHER_DIGEST })]);
      expect(await since(told)).toEqual([]);
      expect([...(await noteReadLeads(feed, [lead]))]).toEqual([[1, NOW + 1]]);
    });

    test('who reads by labels is told once that a lead left, and nothing of its life outside', async () => {
      const { directory, since, end } = await setUp();
      const at = (updatedAt: number, ...labels: string[]) =>
        putEntries(directory, [entry(1, { updatedAt, labels: ['approved', ...labels] })]);
      await at(1, 'eu');
      const start = await end();
      await at(2, 'us');
      expect(await since(start, ['eu'])).toEqual(['-1']);
      const left = await end();
      await at(3, 'us', 'vip');
      await at(4, 'us');
      expect(await since(left, ['eu'])).toEqual([]);
      expect(await since(start, ['eu'])).toEqual(['-1']);
      expect(await since(left, ['us'])).toEqual(['+1']);
      expect(await since(START, ['eu', 'us'])).toEqual([]); // never at the same time
      expect(await since(START, ['eu', 'vip'])).toEqual([]);
      await at(5, 'eu');
      expect(await since(left, ['eu'])).toEqual(['+1']);
      await putEntries(directory, [entry(1, { updatedAt: 6, isReadable: false, labels: ['eu'] })]);
      const gone = await end();
      expect(await since(left, ['eu'])).toEqual(['-1']);
      await putEntries(directory, [entry(1, { updatedAt: 7, isReadable: false, labels: ['eu'] })]);
      expect([await since(gone), await since(gone, ['eu'])]).toEqual([[], []]);
    });

    test('what was never approved is no lead', async () => {
      const { directory, since } = await setUp();
      await putEntries(directory, [entry(1, { isReadable: false, labels: [] })]);
      expect(await since(START)).toEqual([]);
    });

    test('tells whoever could read it of a lead that lost its approval', async () => {
      const { directory, since, end } = await setUp();
      await putEntries(directory, [entry(1, { labels: ['approved', 'eu'] }), entry(2)]);
      const before = await end();
      await putEntries(directory, [
        entry(1, { isReadable: false, labels: ['us'], updatedAt: 2 }),
        entry(2, { isReadable: false, labels: [], updatedAt: 2 }),
      ]);
      expect(await since(before)).toEqual(['-1', '-2']);
      expect(await since(before, ['eu'])).toEqual(['-1']);
      expect(await since(before, ['us'])).toEqual([]);
    });

    test('an older state that comes late tells its readers of a lead that went before', async () => {
      const { directory, since, end } = await setUp();
      await putEntries(directory, [entry(1, { updatedAt: 1 })]);
      await putEntries(directory, [entry(1, { isReadable: false, labels: [], updatedAt: 9 })]);
      const before = await end();
      await putEntries(directory, [entry(1, { labels: ['approved', 'eu'], updatedAt: 4 })]);
      expect(await since(before, ['eu'])).toEqual(['-1']);
    });

    test('a label of an older state that comes late moves the lead for its own readers alone', async () => {
      const { directory, since, end } = await setUp();
      await putEntries(directory, [entry(1, { updatedAt: 1 })]);
      const first = await end();
      await putEntries(directory, [entry(1, { updatedAt: 9 })]);
      const before = await end();
      await putEntries(directory, [entry(1, { labels: ['approved', 'eu'], updatedAt: 4 })]);
      expect(await since(before, ['eu'])).toEqual(['-1']);
      expect(await since(before)).toEqual([]);
      expect(await since(first)).toEqual(['+1']);
    });

    test('a claim takes a lead away, and its release or withdrawal gives it back', async () => {
      const { database, directory, since, end } = await setUp();
      await putEntries(directory, [entry(1), entry(2)]);
      let before = await end();
      await claimLeads(database, { numbers: [1, 2], at: NOW });
      expect(await since(before)).toEqual(['-1', '-2']);
      before = await end();
      const entryOf = { at: NOW, actor: { kind: 'cli', subject: 'ops' } } as const;
      const claims = createClaims(database);
      await claims.release(1, entryOf);
      expect(await since(before)).toEqual(['+1']);
      before = await end();
      const order = { repositoryId: REPOSITORY_ID, receiptId: 'receipt-1', event: 1, numbers: [2] };
      await database.exclusive((tx) =>
        withdrawClaims(tx, order, { reason: 'unmatched', now: NOW }),
      );
      expect(await since(before)).toEqual(['+2']);
    });

    test('a lead that was given back is not taken by the same event', async () => {
      const { database, directory, since, end } = await setUp();
      await putEntries(directory, [entry(1)]);
      await claimLeads(database, { numbers: [1], at: NOW });
      const claims = createClaims(database);
      await claims.release(1, {
        at: NOW,
        actor: { kind: 'cli', subject: 'ops' },
      });
      const before = await end();
      await claimLeads(database, { numbers: [1], at: NOW });
      expect(await since(before)).toEqual([]);
    });

    test('what moved, was removed or hidden is gone, and comes back with the next change', async () => {
      const { directory, feed, since, end } = await setUp();
      await putEntries(directory, [entry(1), entry(2), entry(3)]);
      const before = await end();
      await noteMoved(directory, 1);
      await removeEntry(directory, 2);
      await hideLeadNow(feed, 3);
      expect(await since(before)).toEqual(['-1', '-2', '-3']);
      await putEntries(directory, [entry(3, { updatedAt: NOW + SECOND })]);
      expect(await since(before)).toEqual(['-1', '-2', '+3']);
    });

    test('what a replica shows of it for a moment is no change', async () => {
      const { directory, feed, since, end, clock } = await setUp();
      await putEntries(directory, [entry(1)]);
      const before = await end();
      await hideLeadNow(feed, 1);
      clock.now += REPLICA_LAG_MAX_MS - SECOND;
      await putEntries(directory, [entry(1)]);
      await putCaughtUp(directory, [entry(1, { updatedAt: NOW })], NOW);
      await putCrawled(directory, [entry(1, { updatedAt: NOW })], NOW);
      expect(await since(before)).toEqual(['-1']);
      clock.now += 2 * SECOND;
      await putCrawled(directory, [entry(1, { updatedAt: NOW })], NOW);
      expect(await since(before)).toEqual(['+1']);
    });

    test('a label that has another name is a change of every lead that carries it', async () => {
      const { directory, read, end, since } = await setUp();
      await putEntries(directory, [entry(1, { labels: ['approved', 'eu'] }), entry(2)]);
      const before = await end();
      await renameLabel(directory, { ...LABELS, from: 'eu', to: 'europe' });
      expect(await read(before)).toMatchObject([{ number: 1, labels: ['approved', 'europe'] }]);
      expect(await since(before, ['eu'])).toEqual(['-1']);
      expect(await since(before, ['europe'])).toEqual(['+1']);
      expect(await since(await end(), ['eu'])).toEqual([]);
    });

    test('a label that is named as the one for approval or deletion now makes leads readable, or not', async () => {
      const { directory, end, since } = await setUp();
      const raw = { isReadable: false };
      await putEntries(directory, [
        entry(1, { labels: ['approved', 'eu'] }),
        entry(2, { ...raw, labels: ['ok'] }),
        entry(3, { ...raw, labels: ['deleted', 'ok'] }),
        entry(4, { ...raw, labels: ['approved', 'deleted'] }),
      ]);
      const before = await end();
      const rename = (from: string, to: string) => renameLabel(directory, { ...LABELS, from, to });
      await rename('ok', 'approved');
      expect(await since(before)).toEqual(['+2']);
      await rename('deleted', 'gone');
      expect(await since(before)).toEqual(['+2', '+3', '+4']);
      await rename('eu', 'deleted');
      expect(await since(before)).toEqual(['+2', '+3', '+4', '-1']);
    });

    test('what a crawl meets for the first time is a change only when it was changed lately', async () => {
      const { directory, since, end, clock } = await setUp();
      await putEntries(directory, [entry(1)]);
      const before = await end();
      clock.now += 1;
      await putCrawled(directory, [entry(2), entry(3, { updatedAt: NOW - 1 })], NOW);
      expect(await since(before)).toEqual(['+3']);
      expect(await since(START)).toEqual(['+2', '+1', '+3']);
    });

    test('what a crawl finds readable by now is a change, however long ago somebody touched it', async () => {
      const { directory, since, end, clock } = await setUp();
      await putEntries(directory, [entry(1), entry(2, { isReadable: false, labels: ['lead'] })]);
      const before = await end();
      clock.now += 1;
      const rules = rulesCheckOf({ ...leadRules, approvedLabel: 'lead' }, directoryKey);
      await adoptRepository(directory, REPOSITORY_ID, { rules, at: clock.now });
      const now = [entry(1, { isReadable: false }), entry(2, { labels: ['lead'] })];
      await putCrawled(directory, now, 0);
      expect(await since(before)).toEqual(['-1', '+2']);
      const told = await end();
      await putCrawled(directory, now, 0);
      expect(await since(told)).toEqual([]);
    });

    test('a full crawl finds out what readers were shown and is gone', async () => {
      const { directory, feed, since, end, clock } = await setUp();
      await putEntries(directory, [entry(1)]);
      await noteReadLeads(
        feed,
        [1, 2].map((number) => ({
          number,
          updatedAt: 0,
          labels: ['approved'],
          leadDigest: DIGEST,
        })),
      );
      const before = await end();
      clock.now += 1;
      await startCrawl(directory, clock.now);
      await putCrawled(directory, [entry(1)], 0);
      await completeCrawl(directory, clock.now);
      expect(await since(before)).toEqual(['-2']);
    });

    test('leads that are gone are forgotten after 30 days, and positions go on', async () => {
      const { directory, since, end, clock } = await setUp();
      await putEntries(directory, [entry(1)]);
      await putEntries(directory, [entry(2)]);
      await removeEntry(directory, 1);
      await removeEntry(directory, 2);
      const before = await end();
      clock.now += 31 * DAY;
      await completeCrawl(directory, clock.now);
      expect(await since(START)).toEqual(['-2']);
      clock.now = NOW - DAY;
      await putEntries(directory, [entry(3)]);
      expect(await since(before)).toEqual(['+3']);
    });

    test('readers begin again behind a restore and behind another repository, and for nothing else', async () => {
      const { database, directory, feed, since, clock } = await setUp();
      const rules = rulesCheckOf(leadRules, directoryKey);
      const reopen = async (repository = REPOSITORY, id = REPOSITORY_ID): Promise<unknown> => {
        const store = { ...directory, repository };
        clock.now += 1;
        await adoptRepository(store, id, { rules, at: clock.now });
        return readEra(store);
      };
      await putEntries(directory, [entry(1)]);
      expect(await reopen()).toBeUndefined();
      expect(await reopen('acme/renamed')).toBeUndefined();
      await database.run('UPDATE directory_state SET rules_check = @none', {
        none: Buffer.alloc(0),
      });
      const restored = await reopen();
      expect(restored).toBeGreaterThan(NOW);
      clock.now += 31 * DAY;
      await putEntries(directory, [entry(2)]);
      await completeCrawl(directory, clock.now);
      expect(await reopen()).toBe(restored);
      clock.now -= 40 * DAY;
      expect(await reopen('acme/others', 7)).toBeDefined();
      const back = await reopen();
      expect(back).not.toBe(restored);
      expect(await reopen()).toBe(back);
      expect(await readEra(feed)).toBe(back);
      expect(await since(START)).toEqual(['+1', '+2']);
    });

    test('knows who follows', async () => {
      const { feed } = await setUp();
      expect(await isFeedFollowed(feed.db, 0)).toBe(false);
      expect(await findFollowerNote(feed.db, 'c1')).toBeUndefined();
      await putFollowerNote(feed.db, { consumerId: 'c1', position: 5, readAt: NOW });
      await putFollowerNote(feed.db, { consumerId: 'c1', position: 7, readAt: NOW + 1 });
      expect(await findFollowerNote(feed.db, 'c1')).toEqual({
        consumerId: 'c1',
        position: 7,
        readAt: NOW + 1,
      });
      expect(await isFeedFollowed(feed.db, NOW)).toBe(true);
      expect(await isFeedFollowed(feed.db, NOW + 2)).toBe(false);
    });
  });
}
