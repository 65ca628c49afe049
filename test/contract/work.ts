import type { KeyObject } from 'node:crypto';
import type { DirectoryStore } from '#leads/lead-store.ts';
import { describe, expect, test } from 'vitest';
import type { WorkItem } from '#partners/worker/work-item.ts';
import type { ActProgress, Todo } from '#partners/receipts/event-progress.ts';
import type { NewEvent } from '#partners/intake/accept-delivery.ts';
import { STEPS_MAX } from '#partners/receipts/receipt.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import {
  type HashedIdentity,
  rulesCheckOf,
  toHashedIdentity,
} from '#leads/directory/lead-directory.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import type { TestClaims } from '../support/claims.ts';
import { directoryKey, entry, leadRules, REPOSITORY_ID } from '../support/directory.ts';
import {
  type ReceiptScope,
  keepMatch,
  operatorsOf,
  settleEvent,
  type WorkScope,
  acceptEvent,
  INSTANCE,
} from '../support/partners.ts';
import { email, externalId } from '../support/identities.ts';
import {
  forgetLeases,
  makeDue,
  giveBack,
  leaseEvents,
  nextDueAt,
  postpone,
  reschedule,
  saveProgress,
} from '#partners/worker/lease-events.ts';
import { readWorkCounts } from '#partners/worker/worker.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';
import {
  LeaseLost,
  hasLeadsElsewhere,
  leadsOf,
  leadsUnderLease,
  createOwnComment,
  blockedUntil,
  isOvertaken,
} from '#partners/worker/held-leads.ts';
import {
  completeCrawl,
  adoptRepository,
  putCaughtUp,
  putCrawled,
  putEntries,
  startCrawl,
} from '#leads/directory/write-directory.ts';
import { keyOf } from '../support/keys.ts';

/** Engine of the contract. Everything is released when the running test ends. */
type WorkFixture = {
  /** Payloads are sealed with this key. */
  storeWith(payloadKey: KeyObject): WorkScope;
  receiptsWith(payloadKey: KeyObject): ReceiptScope;
  directory: DirectoryStore;
  auditOf(subject: string): Promise<AuditEntry[]>;
  claims: Pick<TestClaims, 'release'>;
  /** This instance has the worker's lease; only where several share a store. */
  workAs?: (instance: string) => Promise<void>;
  /** From now on no progress can be written. */
  failProgress(): Promise<void>;
  /** Of how many events the bytes are kept. */
  countPayloads(): Promise<number>;
};

type Open = () => Promise<WorkFixture>;

const releaseOf = (number: number, at: number): AuditEntry => ({
  at,
  actor: { kind: 'cli', subject: 'ops' },
  action: 'claim.release',
  subject: `claim/${number}`,
});

const act: ActProgress = { stage: 'act', actions: ['close'], leads: [] };
const next = {
  progress: { stage: 'match', askedAt: 1, misses: 0 },
  dueAt: 0,
  attempts: 0,
  now: 0,
} as const;
const matching = { stage: 'match' as const, askedAt: 1, misses: 0 };

async function leaseOne(store: WorkScope, stage: 'match' | 'act' = 'match', now = 0) {
  const [item] = await leaseEvents(store, stage, { now, limit: 1 });
  if (!item) throw new Error('nothing is due');
  return item;
}

const claimAll = (store: WorkScope, item: WorkItem, numbers: number[], now = 5) =>
  keepMatch(store, {
    item,
    match: { leads: numbers, conflicts: [] },
    plan: { actions: act.actions, now },
  });

/** One body for every engine: what `WorkScope` promises. */
export function describeWork(engine: string, open: Open): void {
  async function setUp({ isIdentified = true } = {}) {
    const fixture = await open();
    const { directory } = fixture;
    const openedAs = (repositoryId: number): Promise<void> =>
      adoptRepository(directory, repositoryId, {
        rules: rulesCheckOf(leadRules, directoryKey),
        at: 0,
      });
    if (isIdentified) await openedAs(REPOSITORY_ID);
    await putEntries(
      directory,
      [1, 2, 3].map((number) => entry(number)),
    );
    const payloadKey = keyOf(1);
    const receipts = fixture.receiptsWith(payloadKey);
    const store = fixture.storeWith(payloadKey);
    const accept = (
      text: string,
      at = 0,
      {
        names = [],
        actions,
        ...delivery
      }: Parameters<typeof acceptEvent>[2] & Partial<Pick<NewEvent, 'names' | 'actions'>> = {},
    ): Promise<string> => {
      const event = { sameEventKey: Buffer.from(text), payload: Buffer.from(text), names, actions };
      return acceptEvent(receipts, { at, ...event }, delivery);
    };
    return { fixture, receipts, store, accept, openedAs };
  }

  describe(`work store on ${engine}`, () => {
    describe('a lease', () => {
      test('names the span of the delivery that asked for it, where there was one', async () => {
        const { store, accept } = await setUp();
        const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
        await accept('traced', 1, { traceparent });
        await accept('not traced', 2);
        const items = await leaseEvents(store, 'match', { now: 5, limit: 2 });
        expect(items.map((item) => item.traceparent)).toEqual([traceparent, undefined]);
      });

      test('gives each due event to one worker, oldest due first, with its payload', async () => {
        const { store, accept } = await setUp();
        await accept('b', 20);
        await accept('a', 10);
        await accept('later', 99);
        const items = await leaseEvents(store, 'match', { now: 50, limit: 10 });
        expect(items.map(({ payload }) => payload?.toString())).toEqual(['a', 'b']);
        expect(await leaseEvents(store, 'match', { now: 50, limit: 10 })).toEqual([]);
        expect(await nextDueAt(store.db, 'match')).toBe(99);
      });

      test('is there at once for what is due further ahead than any wait', async () => {
        const { store, accept } = await setUp();
        await accept('a', 1000);
        expect(await leaseEvents(store, 'match', { now: 400, limit: 10, aheadMaxMs: 600 })).toEqual(
          [],
        );
        expect(
          await leaseEvents(store, 'match', { now: 399, limit: 10, aheadMaxMs: 600 }),
        ).toMatchObject([{ dueAt: 399 }]);
      });

      test('is for deletions before events, and first for those that redact or delete', async () => {
        const { store, accept } = await setUp();
        const isEvent = { path: 'events' } as const;
        const wanted: Record<string, Todo> = {
          'event 1': { actions: [], effect: { addLabels: ['won'], removeLabels: [], assign: [] } },
          'event 2': { actions: [], effect: { addLabels: ['lost'], removeLabels: [], assign: [] } },
          close: { actions: ['relabel', 'close'] },
          redact: { actions: ['relabel', 'close', 'redact'] },
          delete: { actions: ['delete'] },
        };
        const names = Object.keys(wanted);
        for (const [at, name] of names.entries())
          await accept(name, at, name.startsWith('event') ? isEvent : {});
        const nameOf = ({ payload }: WorkItem): string => payload?.toString() ?? '';
        const items = await leaseEvents(store, 'match', { now: 9, limit: 9 });
        expect(items.map(nameOf)).toEqual(['close', 'redact', 'delete', 'event 1', 'event 2']);
        const confirm = (item: WorkItem) => {
          const todo = wanted[nameOf(item)] ?? { actions: [] };
          const at = names.indexOf(nameOf(item));
          return keepMatch(store, {
            item,
            match: { leads: [1], conflicts: [] },
            plan: { ...todo, now: at },
          });
        };
        for (const item of items) await confirm(item);
        const due = [];
        for (let turn = 0; turn < names.length; turn += 1)
          due.push(await leaseOne(store, 'act', 9));
        expect(due.map(nameOf)).toEqual(['redact', 'delete', 'close', 'event 1', 'event 2']);
        const event = due.find((item) => nameOf(item) === 'event 1') as WorkItem;
        const close = due.find((item) => nameOf(item) === 'close') as WorkItem;
        const overtaken = () =>
          Promise.all([event, close].map((item) => isOvertaken(store.db, item, 9)));
        expect(await overtaken()).toEqual([false, false]); // the others are worked on
        await giveBack(store.db, close);
        expect(await overtaken()).toEqual([true, false]);
        await reschedule(store.db, due[0] as WorkItem, { dueAt: 10, attempts: 1 });
        expect(await overtaken()).toEqual([true, false]);
        await giveBack(store.db, due[1] as WorkItem);
        expect(await overtaken()).toEqual([true, true]);
      });

      test('among those that go first is for who has been due for longest, and the others stay free', async () => {
        const { store, accept } = await setUp();
        await accept('event', 10, { path: 'events' });
        for (const [text, at] of Object.entries({ b: 30, a: 20 })) await accept(text, at);
        const all = await leaseEvents(store, 'match', { now: 50, limit: 9 });
        for (const item of all) await giveBack(store.db, item);
        const payloads = async (limit: number, among?: number, except = new Set<number>()) => {
          const choice = among === undefined ? undefined : { among, except };
          const items = await leaseEvents(store, 'match', {
            now: 50,
            limit,
            ...(choice && { choice }),
          });
          return items.map(({ payload }) => payload?.toString());
        };
        expect(await payloads(1, 3, new Set(all.map(({ event }) => event)))).toEqual([]);
        expect(await payloads(1, 3)).toEqual(['event']);
        expect(await payloads(1, 1)).toEqual(['a']);
        expect(await payloads(9)).toEqual(['b']);
      });

      test('is for events while every deletion waits for its next try', async () => {
        const { store, accept } = await setUp();
        for (const text of ['a', 'b']) await accept(text);
        await accept('event', 5, { path: 'events' });
        for (const item of await leaseEvents(store, 'match', { now: 0, limit: 2 }))
          await reschedule(store.db, item, { dueAt: 90, attempts: 1 });
        expect((await leaseOne(store, 'match', 5)).payload?.toString()).toBe('event');
        expect(await nextDueAt(store.db, 'match')).toBe(90);
      });

      test('ends after 25 seconds; then whoever had it can write nothing any more', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        const lost = await leaseOne(store);
        expect(await leaseEvents(store, 'match', { now: 25 * SECOND - 1, limit: 1 })).toEqual([]);
        const mine = await leaseOne(store, 'match', 25 * SECOND);
        expect(await claimAll(store, lost, [1])).toBeUndefined();
        expect(await saveProgress(store.db, lost, matching, 0)).toBe(false);
        expect(await reschedule(store.db, lost, { dueAt: 0, attempts: 1 })).toBe(false);
        expect(await settleEvent(store, lost, { outcome: 'UNMATCHED', attempts: 1 }, 0)).toBe(
          'lost',
        );
        expect(await settleEvent(store, mine, { outcome: 'UNMATCHED', attempts: 1 }, 0)).toBe(
          'settled',
        );
      });

      test('is renewed with the progress, and forgotten when the only worker starts anew', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        const item = await leaseOne(store);
        expect(await saveProgress(store.db, item, matching, 20 * SECOND)).toBe(true);
        expect(await leaseEvents(store, 'match', { now: 30 * SECOND, limit: 1 })).toEqual([]);
        await forgetLeases(store, 1e9);
        expect((await leaseOne(store, 'match', 30 * SECOND)).progress).toEqual(matching);
      });

      test('is for the instance that works: one that was followed gets none, and ends none', async ({
        skip,
      }) => {
        const { store, accept, fixture } = await setUp();
        const { workAs } = fixture;
        if (!workAs) return skip();
        await accept('a');
        await workAs(INSTANCE);
        const item = await leaseOne(store);
        await accept('ahead', 1e6);
        await workAs('another');
        expect(
          await leaseEvents(store, 'match', { now: 60 * SECOND, limit: 10, aheadMaxMs: SECOND }),
        ).toEqual([]);
        expect(await nextDueAt(store.db, 'match')).toBe(1e6);
        await accept('b');
        expect(await leaseEvents(store, 'match', { now: 60 * SECOND, limit: 10 })).toEqual([]);
        await forgetLeases(store, 0);
        // Events in its hands are its own until the other one ends all leases.
        expect(await saveProgress(store.db, item, matching, 0)).toBe(true);
        await workAs(INSTANCE);
        await forgetLeases(store, 0);
        expect(await saveProgress(store.db, item, matching, 0)).toBe(false);
        expect(await leaseEvents(store, 'match', { now: 0, limit: 10 })).toHaveLength(3);
      });

      test('that is given back leaves the event due', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        await giveBack(store.db, await leaseOne(store));
        expect((await leaseOne(store)).payload?.toString()).toBe('a');
      });

      test('of many events is given back at once, each due at its own time', async () => {
        const { store, accept } = await setUp();
        for (const text of ['a', 'b']) await accept(text);
        const [first, second] = await leaseEvents(store, 'match', { now: 0, limit: 2 });
        if (!first || !second) throw new Error('nothing is due');
        await postpone(store.db, [
          { item: first, progress: { ...matching, misses: 1 }, dueAt: 10 },
          { item: second, progress: matching, dueAt: 20 },
        ]);
        expect(await nextDueAt(store.db, 'match')).toBe(10);
        const [due] = await leaseEvents(store, 'match', { now: 15, limit: 2 });
        expect(due).toMatchObject({ event: first.event, progress: { misses: 1 } });
      });

      test('of many events leaves alone what another worker took over, and keeps the tries of the others', async () => {
        const { store, accept } = await setUp();
        for (const text of ['a', 'b']) await accept(text);
        await reschedule(store.db, await leaseOne(store), { attempts: 2, dueAt: 0 });
        const late = await leaseEvents(store, 'match', { now: 0, limit: 2 });
        const taken = await leaseOne(store, 'match', 30 * SECOND);
        const progress = { ...matching, misses: 1 };
        await postpone(
          store.db,
          late.map((item) => ({ item, progress, dueAt: 40 * SECOND })),
        );
        expect(await saveProgress(store.db, taken, matching, 30 * SECOND)).toBe(true);
        const own = await leaseEvents(store, 'match', { now: 40 * SECOND, limit: 2 });
        const mine = late.find(({ event }) => event !== taken.event);
        expect(own).toMatchObject([{ event: mine?.event, attempts: mine?.attempts, progress }]);
        expect(new Set(late.map(({ attempts }) => attempts))).toEqual(new Set([0, 2]));
      });

      test('that waits for the tracker is due at once for another credential, and nothing else that waits', async () => {
        const { store, accept } = await setUp();
        for (const text of ['a', 'b', 'c', 'd']) await accept(text);
        const items = await leaseEvents(store, 'match', { now: 0, limit: 4 });
        const ends = [
          { progress: matching },
          { progress: { ...matching, missedSince: 0 } },
          { progress: act, lastError: 'tracker-limited' },
          { progress: act, lastError: 'tracker-server' },
        ] as const;
        const waiting = ends.flatMap((end, at) => {
          const item = items[at];
          return item ? [{ item, dueAt: 90, ...end }] : [];
        });
        await postpone(store.db, waiting);
        await makeDue(store.db, 50);
        const due = [await leaseOne(store, 'match', 50), await leaseOne(store, 'act', 50)];
        expect(due.map(({ event }) => event)).toEqual([items[0]?.event, items[2]?.event]);
        for (const stage of ['match', 'act'] as const)
          expect(await leaseEvents(store, stage, { now: 50, limit: 1 })).toEqual([]);
      });

      test('that is given back for want of the partner waits, and is due for the next worker', async () => {
        const { store, accept, receipts } = await setUp();
        const [id] = [await accept('a'), await accept('b')];
        const wait = async (): Promise<void> => {
          const lastError = 'partner-unknown';
          const [item] = await leaseEvents(store, 'match', { now: 5, limit: 1 });
          if (!item) throw new Error('nothing is due');
          await postpone(store.db, [{ item, progress: matching, dueAt: 90, lastError }]);
        };
        await wait();
        expect((await readWorkCounts(store.db)).lackedPartners).toEqual(['crm-one']);
        expect((await readReceipt(receipts.db, id))?.events[0]).toMatchObject({
          outcome: 'PENDING',
          attempts: 0,
          lastError: 'partner-unknown',
        });
        expect(await leaseEvents(store, 'match', { now: 5, limit: 10 })).toHaveLength(1); // the other one
        await forgetLeases(store, 50);
        await leaseEvents(store, 'match', { now: 5, limit: 1 }); // of the other one
        const known = await leaseOne(store, 'match', 50);
        expect(await claimAll(store, known, [1])).toEqual([1]);
        expect((await readWorkCounts(store.db)).lackedPartners).toEqual([]);
        expect((await readReceipt(receipts.db, id))?.events[0]).not.toHaveProperty('lastError');
      });

      test('of an event sealed under another key brings no payload', async () => {
        const { fixture, accept } = await setUp();
        await accept('a');
        const other = fixture.storeWith(keyOf(2));
        expect(await leaseOne(other)).not.toHaveProperty('payload');
      });
    });

    describe('a claim', () => {
      test('and the event’s progress are one: then the event is due for its actions', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a');
        const item = await leaseOne(store);
        expect(await claimAll(store, item, [3, 1])).toEqual([1, 3]);
        expect(await leaseEvents(store, 'match', { now: 50, limit: 1 })).toEqual([]);
        const due = await leaseOne(store, 'act', 5);
        expect(due.progress).toEqual({
          ...act,
          leads: [
            { number: 1, state: 'open' },
            { number: 3, state: 'open' },
          ],
        });
        expect(await leadsOf(store, due)).toEqual([1, 3]);
        expect((await readReceipt(receipts.db, id))?.events[0]?.leadIds).toEqual(['1', '3']);
      });

      test('is undone together with the progress when the commit fails', async () => {
        const { fixture, store, accept } = await setUp();
        await accept('a');
        const item = await leaseOne(store);
        await fixture.failProgress();
        await expect(claimAll(store, item, [1])).rejects.toThrow('no');
        expect(await leadsOf(store, item)).toEqual([]);
      });

      const withdrawals = async (fixture: WorkFixture, number: number) =>
        (await fixture.auditOf(`claim/${number}`))
          .filter(({ action }) => action === 'claim.withdraw')
          .map(({ action, actor, changes }) => [action, actor.kind, changes?.['reason']]);

      test('for now is taken back, audited, by a match that is certain of other leads', async () => {
        const { fixture, store, accept } = await setUp();
        await accept('a');
        await keepMatch(store, {
          item: await leaseOne(store),
          match: { leads: [1, 2], conflicts: [] },
          next,
        });
        expect(await claimAll(store, await leaseOne(store), [2, 3])).toEqual([2, 3]);
        expect(await withdrawals(fixture, 1)).toEqual([
          ['claim.withdraw', 'system', 'better-match'],
        ]);
        expect(await withdrawals(fixture, 2)).toEqual([]);
      });

      test('for now of a lead that turns out to be in conflict is taken back at once', async () => {
        const { fixture, store, receipts, accept } = await setUp();
        const id = await accept('a');
        await keepMatch(store, {
          item: await leaseOne(store),
          match: { leads: [1, 2], conflicts: [] },
          next,
        });
        const better = { leads: [2], conflicts: [1] };
        expect(
          await keepMatch(store, { item: await leaseOne(store), match: better, next }),
        ).toEqual([2]);
        expect(await withdrawals(fixture, 1)).toEqual([
          ['claim.withdraw', 'system', 'lead-id-conflict'],
        ]);
        expect((await readReceipt(receipts.db, id))?.events[0]).toMatchObject({
          leadIds: ['2'],
          note: 'lead-id-conflict',
        });
      });

      test('for now is taken back when the event ends UNMATCHED, and one for good is not', async () => {
        const { fixture, store, receipts, accept } = await setUp();
        const wrong = await accept('a');
        await keepMatch(store, {
          item: await leaseOne(store),
          match: { leads: [1], conflicts: [] },
          next,
        });
        const item = await leaseOne(store);
        await settleEvent(store, item, { outcome: 'UNMATCHED', attempts: 3 }, 7);
        expect(await leadsOf(store, item)).toEqual([]);
        expect((await readReceipt(receipts.db, wrong))?.events[0]?.leadIds).toEqual([]);
        expect(await withdrawals(fixture, 1)).toEqual([['claim.withdraw', 'system', 'unmatched']]);
        const id = await accept('b');
        await claimAll(store, await leaseOne(store), [1]);
        const acting = await leaseOne(store, 'act', 5);
        await settleEvent(store, acting, { outcome: 'UNMATCHED', attempts: 1 }, 8);
        expect(await leadsOf(store, acting)).toEqual([1]);
        expect((await readReceipt(receipts.db, id))?.events[0]?.outcome).toBe('UNMATCHED');
      });

      test('for now is kept by a match that knows nothing of a repeat, and taken back by the next', async () => {
        const { fixture, store, accept } = await setUp();
        await accept('a');
        const match = { leads: [1], conflicts: [] };
        await keepMatch(store, { item: await leaseOne(store), match, next });
        const item = await leaseOne(store);
        await accept('a', 50);
        expect(await claimAll(store, item, [2])).toEqual([1, 2]);
        expect(await withdrawals(fixture, 1)).toEqual([]);
        expect(await claimAll(store, await leaseOne(store, 'match', 50), [2])).toEqual([2]);
      });

      test('for now that an operator gave back is neither made again nor audited twice', async () => {
        const { fixture, store, accept } = await setUp();
        await accept('a');
        await keepMatch(store, {
          item: await leaseOne(store),
          match: { leads: [1], conflicts: [] },
          next,
        });
        await fixture.claims.release(1, releaseOf(1, 3));
        expect(await claimAll(store, await leaseOne(store), [2])).toEqual([2]);
        expect(await withdrawals(fixture, 1)).toEqual([]);
      });

      test('of a repository that is another one now is not held any more', async () => {
        const { openedAs, store, accept } = await setUp();
        await accept('a');
        const item = await leaseOne(store);
        await claimAll(store, item, [1]);
        await openedAs(REPOSITORY_ID + 1);
        expect(await leadsOf(store, item)).toEqual([]);
      });
    });

    describe('an end', () => {
      test('of DONE drops the payload, every other keeps it for a replay', async () => {
        const { fixture, store, accept, receipts } = await setUp();
        const id = await accept('a');
        await settleEvent(store, await leaseOne(store), { outcome: 'DONE', attempts: 1 }, 7);
        expect(await fixture.countPayloads()).toBe(0);
        expect(await readReceipt(receipts.db, id)).toMatchObject({
          status: 'PROCESSED',
          events: [{ outcome: 'DONE', attempts: 1, completedAt: 7 }],
        });
        const failed = await accept('b');
        const lastError = 'transferred';
        await settleEvent(
          store,
          await leaseOne(store),
          { outcome: 'FAILED', attempts: 2, lastError },
          8,
        );
        expect(await fixture.countPayloads()).toBe(1);
        expect(await readReceipt(receipts.db, failed)).toMatchObject({
          status: 'FAILED',
          events: [{ outcome: 'FAILED', lastError }],
        });
        expect(await readWorkCounts(store.db)).toMatchObject({
          open: 0,
          deadLetters: 1,
          lackedPartners: [],
        });
      });

      test('of an event that came again meanwhile is a new start', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a', 3);
        const item = await leaseOne(store, 'match', 3);
        await accept('a', 4);
        expect(await settleEvent(store, item, { outcome: 'DONE', attempts: 1 }, 7)).toBe('again');
        expect((await readReceipt(receipts.db, id))?.status).toBe('ACCEPTED');
        expect(await readWorkCounts(store.db)).toMatchObject({
          open: 1,
          deadLetters: 0,
          oldestAskedAt: 3,
        });
        const again = await leaseOne(store, 'match', 7);
        expect(again.payload?.toString()).toBe('a');
        expect(again).not.toHaveProperty('progress');
      });
    });

    describe('an event without an id that comes again', () => {
      const found = { ...matching, misses: 1 };
      const waiting = { dueAt: 90_000, attempts: 1, lastError: 'not-found' } as const;

      test('is matched anew at once while it waits, and still knows what to take back', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        const match = { leads: [2], conflicts: [] };
        await keepMatch(store, {
          item: await leaseOne(store),
          match,
          next: { ...next, progress: found },
        });
        await reschedule(store.db, await leaseOne(store), { ...waiting, progress: found });
        await accept('a', 50);
        const again = await leaseOne(store, 'match', 50);
        expect(again).toMatchObject({
          attempts: 0,
          progress: { ...found, askedAt: 50, misses: 0 },
        });
      });

      test('is matched anew at once while its actions wait, and keeps its claims', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        await claimAll(store, await leaseOne(store), [1]);
        await reschedule(store.db, await leaseOne(store, 'act', 5), waiting);
        await accept('a', 50);
        const again = await leaseOne(store, 'match', 50);
        expect(again).not.toHaveProperty('progress');
        expect(await leadsOf(store, again)).toEqual([1]);
      });

      test.each<[string, (store: WorkScope, item: WorkItem) => Promise<unknown>]>([
        ['claims', (store, item) => claimAll(store, item, [1])],
        ['waits', (store, item) => reschedule(store.db, item, waiting)],
        [
          'waits with others',
          (store, item) => postpone(store.db, [{ item, progress: matching, dueAt: 90_000 }]),
        ],
        ['is given back', (store, item) => giveBack(store.db, item)],
        ['is left behind by a crash', (store) => forgetLeases(store, 1e9)],
      ])('is matched anew as soon as the run in hand %s', async (_end, endRun) => {
        const { store, accept } = await setUp();
        await accept('a');
        const item = await leaseOne(store);
        await accept('a', 50);
        expect(await leaseEvents(store, 'match', { now: 50, limit: 1 })).toEqual([]);
        await endRun(store, item);
        expect(await leaseOne(store, 'match', 50)).toMatchObject({ attempts: 0 });
        expect(await leaseEvents(store, 'act', { now: 50, limit: 1 })).toEqual([]);
      });

      test('is left to the worker that took it over', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        const late = await leaseOne(store);
        await leaseOne(store, 'match', 30 * SECOND);
        await accept('a', 30 * SECOND);
        expect(await settleEvent(store, late, { outcome: 'DONE', attempts: 1 }, 7)).toBe('lost');
        expect(await leaseEvents(store, 'match', { now: 31 * SECOND, limit: 1 })).toEqual([]);
      });
    });

    describe('the history of an event', () => {
      const by = { actor: { kind: 'token', subject: 'ada' } } as const;

      test('has each attempt, each end, and who had it worked again', async () => {
        const { store, accept, receipts, fixture } = await setUp();
        const id = await accept('a', 3);
        const historyOf = async () => (await readReceipt(receipts.db, id))?.events[0]?.history;
        const missed = { at: 4, what: 'missed' } as const;
        const none = { leads: [], conflicts: [] };
        await keepMatch(store, {
          item: await leaseOne(store, 'match', 4),
          match: none,
          next: {
            ...next,
            dueAt: 4,
            step: missed,
          },
        });
        await claimAll(store, await leaseOne(store, 'match', 5), [1]);
        const failed = { at: 6, what: 'failed', code: 'locked' } as const;
        const acting = await leaseOne(store, 'act', 6);
        await reschedule(store.db, acting, {
          dueAt: 7,
          attempts: 1,
          lastError: 'locked',
          step: failed,
        });
        const last = await leaseOne(store, 'act', 7);
        await settleEvent(store, last, { outcome: 'FAILED', lastError: 'locked', attempts: 2 }, 8);
        await operatorsOf(receipts.db, 9).replay(id, by);
        const first = [missed, { at: 5, what: 'matched' }, failed];
        const again = [
          { at: 8, what: 'ended', outcome: 'FAILED', code: 'locked' },
          { at: 9, what: 'replayed', by: 'ada' },
        ];
        expect(await historyOf()).toEqual([...first, ...again]);
        const unmatched = { outcome: 'UNMATCHED', attempts: 3 } as const;
        await settleEvent(store, await leaseOne(store, 'match', 9), unmatched, 10);
        await operatorsOf(receipts.db, 11).replayAll({}, by);
        await claimAll(store, await leaseOne(store, 'match', 11), [1], 12);
        await fixture.claims.release(1, releaseOf(1, 13));
        expect((await historyOf())?.slice(5)).toMatchObject([
          { at: 10, what: 'ended', outcome: 'UNMATCHED' },
          { at: 11, what: 'replayed', by: 'ada' },
          { at: 12, what: 'matched' },
          { at: 13, what: 'released', leadId: '1', by: 'ops' },
        ]);
      });

      test('is bounded: the oldest steps give way', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a');
        for (let at = 1; at <= STEPS_MAX + 3; at += 1) {
          const item = await leaseOne(store, 'match', at);
          await reschedule(store.db, item, {
            dueAt: at,
            attempts: at,
            step: { at, what: 'failed' },
          });
        }
        const history = (await readReceipt(receipts.db, id))?.events[0]?.history ?? [];
        expect([history.length, history[0]?.at, history.at(-1)?.at]).toEqual([
          STEPS_MAX,
          4,
          STEPS_MAX + 3,
        ]);
      });

      test('tells of a partner who sent it again, and what waits counts from then', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a', 3);
        const item = await leaseOne(store, 'match', 3);
        await settleEvent(store, item, { outcome: 'FAILED', attempts: 1 }, 5);
        await accept('later', 6);
        await operatorsOf(receipts.db, 8).replay(id, by);
        expect(await readWorkCounts(store.db)).toMatchObject({
          open: 2,
          deadLetters: 0,
          oldestAskedAt: 6,
        });
        await settleEvent(
          store,
          await leaseOne(store, 'match', 6),
          { outcome: 'DONE', attempts: 1 },
          7,
        );
        expect(await readWorkCounts(store.db)).toMatchObject({
          open: 1,
          deadLetters: 0,
          oldestAskedAt: 8,
        });
        await settleEvent(
          store,
          await leaseOne(store, 'match', 8),
          { outcome: 'DONE', attempts: 1 },
          9,
        );
        await accept('a', 20);
        expect((await readReceipt(receipts.db, id))?.events[0]?.history.at(-1)).toEqual({
          at: 20,
          what: 'repeated',
        });
        expect(await readWorkCounts(store.db)).toMatchObject({
          open: 1,
          deadLetters: 0,
          oldestAskedAt: 20,
        });
      });

      test('a claim that waits for its match is said to be one', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a');
        const isProvisional = async () =>
          (await readReceipt(receipts.db, id))?.events[0]?.isProvisional;
        await keepMatch(store, {
          item: await leaseOne(store),
          match: { leads: [1], conflicts: [] },
          next,
        });
        expect(await isProvisional()).toBe(true);
        await claimAll(store, await leaseOne(store), [1]);
        expect(await isProvisional()).toBe(false);
      });
    });

    describe('a deletion stands:', () => {
      const ADA = email('ada@example.com');
      const BOB = email('bob@example.com');
      const EXTERNAL = externalId('crm-one', '7');
      const hashed = (identity: LeadIdentity): HashedIdentity =>
        toHashedIdentity(directoryKey, identity);
      const actions = act.actions;
      const AT = 100 * SECOND;
      const ofAda = { names: [hashed(ADA)], actions };
      const adaAt = (number: number, createdAt: number) =>
        entry(number, { createdAt, identities: [ADA] });

      /** The event of a receipt, and the leads that it holds. */
      async function setUpStanding(options?: Parameters<typeof setUp>[0]) {
        const world = await setUp(options);
        const { receipts, store, fixture } = world;
        return {
          ...world,
          directory: fixture.directory,
          eventOf: async (id: string) => (await readReceipt(receipts.db, id))?.events[0],
          end: async (outcome: 'DONE' | 'UNMATCHED' | 'FAILED', stage: 'match' | 'act' = 'act') => {
            const item = await leaseOne(store, stage, AT);
            await settleEvent(store, item, { outcome, attempts: 1 }, AT);
          },
        };
      }

      test('a number that is learnt after its end, and was there before, is claimed and acted on', async () => {
        const { store, accept, directory, eventOf, end } = await setUpStanding();
        await putEntries(directory, [adaAt(4, AT)]);
        const id = await accept('a', AT, ofAda);
        await claimAll(store, await leaseOne(store, 'match', AT), [4], AT);
        await end('DONE');
        await putEntries(directory, [adaAt(5, AT), adaAt(6, AT + 1)]);
        expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING', leadIds: ['4', '5'] });
        const item = await leaseOne(store, 'act', AT);
        expect(item.progress).toEqual({
          ...act,
          leads: [
            { number: 4, state: 'done' },
            { number: 5, state: 'open' },
          ],
        });
        expect(await leadsOf(store, item)).toEqual([4, 5]);
      });

      test('a number that is learnt late is claimed by a deletion of before that was brought in since', async () => {
        const { accept, directory, eventOf, end } = await setUpStanding();
        const names = [{ kind: 'lead-id', number: 4 } as const];
        const id = await accept('a', AT, { names, actions, createdBefore: 1 });
        await end('UNMATCHED', 'match');
        await putEntries(directory, [entry(4, { createdAt: AT })]);
        expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING', leadIds: ['4'] });
      });

      test.each([putEntries, putCaughtUp, putCrawled])(
        'a name that a known number gains counts, too, whichever way it is learnt: %o',
        async (way) => {
          const { accept, directory, eventOf, end } = await setUpStanding();
          await putEntries(directory, [entry(4, { createdAt: 1 })]);
          const id = await accept('a', AT, ofAda);
          await end('UNMATCHED', 'match');
          await way(directory, [entry(4, { createdAt: 1, updatedAt: 2, identities: [ADA] })], 2);
          expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING', leadIds: ['4'] });
        },
      );

      test('an event that is being matched gets the lead, and whoever has it in hand loses it', async () => {
        const { store, accept, directory, eventOf } = await setUpStanding();
        const id = await accept('a', AT, ofAda);
        const item = await leaseOne(store, 'match', AT);
        await putEntries(directory, [adaAt(4, AT)]);
        expect(await settleEvent(store, item, { outcome: 'UNMATCHED', attempts: 2 }, AT)).toBe(
          'lost',
        );
        expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING', leadIds: ['4'] });
        expect(await leaseOne(store, 'match', AT)).toMatchObject({ receiptId: id });
      });

      test('what was there before by another name, or is another person, is left alone', async () => {
        const { accept, directory, eventOf } = await setUpStanding();
        const names = [{ kind: 'lead-id', number: 4 } as const, hashed(ADA)];
        const id = await accept('a', AT, { names, actions });
        await putEntries(directory, [
          entry(4, { identities: [BOB] }),
          entry(5, { identities: [BOB] }),
        ]);
        await putEntries(directory, [entry(4, { identities: [BOB] })]);
        // The number was claimed with the acceptance; the worker finds out whose it is.
        expect((await eventOf(id))?.leadIds).toEqual(['4']);
        await putEntries(directory, [adaAt(6, 1)]);
        expect((await eventOf(id))?.leadIds).toEqual(['4', '6']);
      });

      test('several leads of one page are claimed, of several events and merged people as well', async () => {
        const { accept, directory, eventOf, receipts } = await setUpStanding();
        const old = externalId('crm-one', 'old');
        const byId = await accept('b', AT, { names: [hashed(EXTERNAL)], actions });
        const byEmail = await accept('a', AT, ofAda);
        await putEntries(directory, [entry(4, { identities: [old] }), adaAt(5, 1), adaAt(6, 1)]);
        expect((await eventOf(byEmail))?.leadIds).toEqual(['5', '6']);
        expect((await eventOf(byId))?.leadIds).toEqual([]);
        const merge = { from: [hashed(old).hash], to: hashed(EXTERNAL).hash };
        const sameEventKey = Buffer.from('merge');
        await acceptEvent(receipts, { at: AT, sameEventKey, outcome: 'DONE', merge });
        expect((await eventOf(byId))?.leadIds).toEqual(['4']);
        await putEntries(directory, [entry(7, { identities: [old] })]);
        expect((await eventOf(byId))?.leadIds).toEqual(['4', '7']);
      });

      test('a lead that a partner’s event takes by a rule is not a deletion’s', async () => {
        const { accept, directory, eventOf } = await setUpStanding();
        const id = await accept('a', AT, { path: 'events', names: [hashed(ADA)] });
        await putEntries(directory, [adaAt(4, 1)]);
        expect((await eventOf(id))?.leadIds).toEqual([]);
      });

      test('never what an operator released from it, until the partner asks again', async () => {
        const { fixture, store, accept, directory, eventOf, end } = await setUpStanding();
        await putEntries(directory, [adaAt(4, 1)]);
        const id = await accept('a', AT, ofAda);
        await claimAll(store, await leaseOne(store, 'match', AT), [4], AT);
        await end('DONE');
        await fixture.claims.release(4, releaseOf(4, AT));
        await putEntries(directory, [adaAt(4, 1)]);
        expect(await eventOf(id)).toMatchObject({ outcome: 'DONE', note: 'claim-released' });
        await putEntries(directory, [adaAt(5, 1)]);
        expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING' });
        expect(await leadsOf(store, await leaseOne(store, 'act', AT))).toEqual([5]);
      });

      test('until the first full crawl that began after it has ended, and for a day at least', async () => {
        const { accept, directory, eventOf } = await setUpStanding();
        const id = await accept('a', AT, ofAda);
        const leads = async () => (await eventOf(id))?.leadIds;
        await completeCrawl(directory, AT + DAY); // it began before
        await putEntries(directory, [adaAt(4, 1)]);
        expect(await leads()).toEqual(['4']);
        await startCrawl(directory, AT + 1);
        await completeCrawl(directory, AT + DAY - 1); // it ended too soon
        await putEntries(directory, [adaAt(5, 1)]);
        expect(await leads()).toEqual(['4', '5']);
        await startCrawl(directory, AT + DAY);
        await putEntries(directory, [adaAt(6, 1)]);
        await completeCrawl(directory, AT + DAY);
        await putEntries(directory, [adaAt(7, 1)]);
        expect(await leads()).toEqual(['4', '5', '6']);
      });

      test('from its last call on, when it comes again', async () => {
        const { accept, directory, eventOf, end } = await setUpStanding();
        const id = await accept('a', AT, ofAda);
        await end('UNMATCHED', 'match');
        await startCrawl(directory, AT);
        expect(await accept('a', AT + DAY, ofAda)).toBe(id);
        await completeCrawl(directory, AT + 3 * DAY);
        await putEntries(directory, [adaAt(4, AT + DAY), adaAt(5, AT + DAY + 1)]);
        expect((await eventOf(id))?.leadIds).toEqual(['4']);
      });

      test('by the names that it had at its last call', async () => {
        const { accept, directory, eventOf, end } = await setUpStanding();
        const names = [hashed(BOB), hashed(EXTERNAL)];
        const id = await accept('a', AT, { names, actions });
        await end('UNMATCHED', 'match');
        await accept('a', AT + 1, ofAda);
        await putEntries(
          directory,
          [4, 5].map((number) => entry(number, { identities: [BOB, EXTERNAL] })),
        );
        expect((await eventOf(id))?.leadIds).toEqual([]);
        await putEntries(directory, [adaAt(6, 1)]);
        expect((await eventOf(id))?.leadIds).toEqual(['6']);
      });

      test('in the repository that is known first, when none was known', async () => {
        const world = await setUpStanding({ isIdentified: false });
        const { store, accept, directory, openedAs } = world;
        const number = { kind: 'lead-id', number: 9 } as const;
        await accept('a', AT, { names: [number, hashed(ADA)], actions });
        await openedAs(REPOSITORY_ID);
        await putEntries(directory, [adaAt(8, 1)]);
        await openedAs(REPOSITORY_ID + 1);
        await putEntries(directory, [entry(9), adaAt(10, 1)]);
        const item = await leaseOne(store, 'match', AT);
        expect(await leadsOf(store, item)).toEqual([]);
        await openedAs(REPOSITORY_ID);
        await putEntries(directory, [adaAt(9, 1)]);
        expect(await leadsOf(store, item)).toEqual([8, 9]);
      });

      test('in its repository alone', async () => {
        const { accept, directory, eventOf, openedAs } = await setUpStanding();
        const id = await accept('a', AT, { ...ofAda, names: [{ kind: 'lead-id', number: 9 }] });
        await openedAs(REPOSITORY_ID + 1);
        await putEntries(directory, [entry(9)]);
        await openedAs(REPOSITORY_ID);
        expect(await eventOf(id)).toMatchObject({ leadIds: ['9'] });
      });
    });

    describe('an event with a rule', () => {
      const effect = { addLabels: ['won'], removeLabels: [], assign: [] };
      const todo = { actions: [], effect: { ...effect, repositoryId: REPOSITORY_ID } };
      const ofLead = (number: number) =>
        ({ path: 'events', names: [{ kind: 'lead-id', number }] }) as const;
      const find = (store: WorkScope, item: WorkItem, leads: number[], now = 5) =>
        keepMatch(store, {
          item,
          match: { leads, conflicts: [] },
          plan: { actions: [], effect, now },
        });

      test('has the leads that it names from its acceptance on, and claims none', async () => {
        const { receipts, store, accept } = await setUp();
        const id = await accept('a', 0, ofLead(1));
        expect((await readReceipt(receipts.db, id))?.events[0]).toMatchObject({
          leadIds: ['1'],
          isProvisional: false,
        });
        expect(await find(store, await leaseOne(store), [1, 2])).toEqual([1, 2]);
        const item = await leaseOne(store, 'act', 5);
        expect(item).toMatchObject({ path: 'events', position: 0, receivedAt: 0 });
        expect(item.progress).toMatchObject({ ...todo, leads: [{ number: 1 }, { number: 2 }] });
        expect(await leadsUnderLease(store, item)).toEqual([1, 2]);
        expect(await settleEvent(store, item, { outcome: 'IGNORED', attempts: 1 }, 6)).toBe(
          'settled',
        );
        expect((await readReceipt(receipts.db, id))?.events[0]).toMatchObject({
          outcome: 'IGNORED',
          history: [{ what: 'matched', effect: { addLabels: ['won'], comments: false } }],
        });
      });

      test('loses a lead to a deletion, and waits while that one is not certain', async () => {
        const { store, accept } = await setUp();
        await accept('a', 0, ofLead(1));
        await find(store, await leaseOne(store), [1, 2]);
        const item = await leaseOne(store, 'act', 5);
        expect(await blockedUntil(store, item, 1, 5)).toBeUndefined();
        await accept('deletion', 7, { names: [{ kind: 'lead-id', number: 1 }] });
        expect(await blockedUntil(store, item, 1, 7)).toBe(7);
        expect(await blockedUntil(store, item, 2, 7)).toBeUndefined();
        await claimAll(store, await leaseOne(store, 'match', 7), [1], 7);
        expect(await blockedUntil(store, item, 1, 7)).toBeUndefined();
        expect(await leadsUnderLease(store, item)).toEqual([2]);
      });

      test('waits for those about the same lead that came before, until they have ended', async () => {
        const { store, accept } = await setUp();
        await accept('first', 0, ofLead(1));
        await accept('other', 0, ofLead(2));
        await accept('second', 1, ofLead(1));
        for (const item of await leaseEvents(store, 'match', { now: 1, limit: 3 }))
          await find(store, item, [item.payload?.toString() === 'other' ? 2 : 1], 5);
        const items = await leaseEvents(store, 'act', { now: 5, limit: 3 });
        const [first, other, second] = ['first', 'other', 'second'].map((name) =>
          items.find(({ payload }) => payload?.toString() === name),
        );
        if (!first || !other || !second) throw new Error('not all are due');
        const before = (item: WorkItem, number: number) => blockedUntil(store, item, number, 5);
        expect(await before(first, 1)).toBeUndefined();
        expect(await before(other, 2)).toBeUndefined();
        expect(await before(second, 1)).toBe(5);
        await reschedule(store.db, first, { dueAt: 900, attempts: 1 });
        expect(await before(second, 1)).toBe(900);
        const lacking = await leaseOne(store, 'act', 900);
        const lastError = 'partner-unknown';
        await reschedule(store.db, lacking, { dueAt: 901, attempts: 1, lastError });
        expect(await before(second, 1)).toBeUndefined();
        const again = await leaseOne(store, 'act', 901);
        await reschedule(store.db, again, { dueAt: 902, attempts: 1 });
        expect(await before(second, 1)).toBe(902);
        const last = await leaseOne(store, 'act', 902);
        await settleEvent(store, last, { outcome: 'FAILED', attempts: 2 }, 903);
        expect(await before(second, 1)).toBeUndefined();
      });

      test('waits for what came before and nobody has looked at, for a minute at most', async () => {
        const { store, accept } = await setUp();
        await accept('first', 0, { path: 'events' });
        await accept('second', 1, ofLead(1));
        const [first, second] = await leaseEvents(store, 'match', { now: 1, limit: 2 });
        if (!first || !second) throw new Error('not all are due');
        await find(store, second, [1], 5);
        const item = await leaseOne(store, 'act', 5);
        expect(await blockedUntil(store, item, 1, 5)).toBe(0);
        expect(await blockedUntil(store, item, 1, 60 * SECOND)).toBeUndefined();
        await keepMatch(store, {
          item: first,
          match: { leads: [], conflicts: [] },
          next: { ...next, attempts: 1 },
        });
        expect(await blockedUntil(store, item, 1, 5)).toBeUndefined();
      });

      test('has nothing to do with the leads of another repository', async () => {
        const { store, accept, openedAs } = await setUp();
        await accept('a', 0, ofLead(1));
        await find(store, await leaseOne(store), [1]);
        const item = await leaseOne(store, 'act', 5);
        expect(await hasLeadsElsewhere(store, item)).toBe(false);
        await openedAs(REPOSITORY_ID + 1);
        expect(await leadsUnderLease(store, item)).toEqual([]);
        expect(await hasLeadsElsewhere(store, item)).toBe(true);
      });

      test('that comes again has its leads again, and claims none', async () => {
        const { receipts, store, accept } = await setUp();
        const id = await accept('a', 0, ofLead(1));
        await find(store, await leaseOne(store), [1]);
        await settleEvent(
          store,
          await leaseOne(store, 'act', 5),
          { outcome: 'DONE', attempts: 1 },
          6,
        );
        await accept('a', 9, ofLead(1));
        expect((await readReceipt(receipts.db, id))?.events[0]).toMatchObject({
          outcome: 'PENDING',
          leadIds: ['1'],
          isProvisional: false,
        });
      });
    });

    describe('our comment on an issue', () => {
      const openBoth = async (path: 'deletions' | 'events') => {
        const { receipts, store } = await setUp();
        const events = [0, 1].map((position) => ({
          position,
          outcome: 'PENDING' as const,
          names: [],
          payload: Buffer.from('{}'),
          sameEventKey: Buffer.from([position]),
          digest: Buffer.alloc(32),
        }));
        await acceptEvent(receipts, { at: 0, sameEventKey: Buffer.of(2) }, { path, events });
        const [first, second] = await leaseEvents(store, 'match', { now: 0, limit: 2 });
        if (!first || !second) throw new Error('nothing is due');
        return { store, first, second };
      };

      test.each([
        ['deletions', { triedAt: 7, isWritten: true }],
        ['events', undefined],
      ] as const)('is known to the others of its delivery: %s', async (path, told) => {
        const { store, first, second } = await openBoth(path);
        const own = createOwnComment(store.db, first, 1);
        expect(await own.read()).toBeUndefined();
        await own.noteTry(5);
        expect(await own.read()).toEqual({ triedAt: 5, isWritten: false });
        await own.noteTry(7);
        await own.noteWritten();
        expect(await createOwnComment(store.db, second, 1).read()).toEqual(told);
        expect(await createOwnComment(store.db, second, 2).read()).toBeUndefined();
        await settleEvent(store, first, { outcome: 'DONE', attempts: 1 }, 8);
        expect(await own.read()).toEqual({ triedAt: 7, isWritten: true });
      });

      test('is not begun by a worker that has lost the event', async () => {
        const { store, first } = await openBoth('deletions');
        const own = createOwnComment(store.db, { ...first, leaseToken: 'of another' }, 1);
        await expect(own.noteTry(5)).rejects.toThrow(LeaseLost);
        expect(await own.read()).toBeUndefined();
      });
    });

    test('an event that comes again before anybody has begun it is asked for from then on', async () => {
      const { store, accept } = await setUp();
      await accept('a', 3);
      await accept('a', 50);
      expect(await leaseOne(store, 'match', 50)).toMatchObject({ dueAt: 50, attempts: 0 });
    });

    test('two that lease at the same time never get the same event', async () => {
      const { fixture, store, accept } = await setUp();
      const other = fixture.storeWith(keyOf(1));
      for (let number = 0; number < 20; number += 1) await accept(`e${number}`);
      const leased = await Promise.all(
        [store, other, store, other].map((one) => leaseEvents(one, 'match', { now: 0, limit: 5 })),
      );
      const events = leased.flat().map(({ event }) => event);
      expect(new Set(events).size).toBe(events.length);
      expect(new Set(leased.flat().map(({ leaseToken }) => leaseToken)).size).toBe(events.length);
    });
  });
}
