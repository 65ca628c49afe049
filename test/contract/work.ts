import { describe, expect, test } from 'vitest';
import { LeaseLost } from '#partners/worker/event-leads.ts';
import type { ActProgress, Todo, WorkItem } from '#partners/worker/work-item.ts';
import type { NewEvent } from '#partners/intake/new-receipt.ts';
import type { StoredReceipts } from '../support/receipts.ts';
import { STEPS_MAX } from '#partners/receipts/receipt.ts';
import type { Work } from '../support/work.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import {
  type HashedIdentity,
  rulesCheckOf,
  toHashedIdentity,
} from '#leads/directory/lead-directory.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import { type TestClaims } from '../support/claims.ts';
import {
  type LeadDirectory,
  directoryKey,
  entry,
  leadRules,
  REPOSITORY_ID,
} from '../support/directory.ts';
import { acceptEvent, INSTANCE } from '../support/partners.ts';
import { email, externalId } from '../support/identities.ts';

/** Engine of the contract. Everything is released when the running test ends. */
type WorkFixture = {
  /** Payloads are sealed with this key. */
  storeWith(payloadKey: Buffer): Work;
  receiptsWith(payloadKey: Buffer): StoredReceipts;
  directory: LeadDirectory;
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

async function leaseOne(store: Work, stage: 'match' | 'act' = 'match', now = 0) {
  const [item] = await store.lease(stage, now, 1);
  if (!item) throw new Error('nothing is due');
  return item;
}

const claimAll = (store: Work, item: WorkItem, numbers: number[], now = 5) =>
  store.confirm(item, { leads: numbers, conflicts: [] }, { actions: act.actions, now });

/** One body for every engine: what `Work` promises. */
export function describeWork(engine: string, open: Open): void {
  async function setUp({ isIdentified = true } = {}) {
    const fixture = await open();
    const { directory } = fixture;
    const openedAs = (repositoryId: number): Promise<void> =>
      directory.open(repositoryId, rulesCheckOf(leadRules, directoryKey), 0);
    if (isIdentified) await openedAs(REPOSITORY_ID);
    await directory.put([1, 2, 3].map((number) => entry(number)));
    const payloadKey = Buffer.alloc(32, 1);
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
        const items = await store.lease('match', 5, 2);
        expect(items.map((item) => item.traceparent)).toEqual([traceparent, undefined]);
      });

      test('gives each due event to one worker, oldest due first, with its payload', async () => {
        const { store, accept } = await setUp();
        await accept('b', 20);
        await accept('a', 10);
        await accept('later', 99);
        const items = await store.lease('match', 50, 10);
        expect(items.map(({ payload }) => payload?.toString())).toEqual(['a', 'b']);
        expect(await store.lease('match', 50, 10)).toEqual([]);
        expect(await store.nextDueAt('match')).toBe(99);
      });

      test('is there at once for what is due further ahead than any wait', async () => {
        const { store, accept } = await setUp();
        await accept('a', 1000);
        expect(await store.lease('match', 400, 10, 600)).toEqual([]);
        expect(await store.lease('match', 399, 10, 600)).toMatchObject([{ dueAt: 399 }]);
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
        const items = await store.lease('match', 9, 9);
        expect(items.map(nameOf)).toEqual(['close', 'redact', 'delete', 'event 1', 'event 2']);
        const confirm = (item: WorkItem) => {
          const todo = wanted[nameOf(item)] ?? { actions: [] };
          const at = names.indexOf(nameOf(item));
          return store.confirm(item, { leads: [1], conflicts: [] }, { ...todo, now: at });
        };
        for (const item of items) await confirm(item);
        const due = [];
        for (let turn = 0; turn < names.length; turn += 1)
          due.push(await leaseOne(store, 'act', 9));
        expect(due.map(nameOf)).toEqual(['redact', 'delete', 'close', 'event 1', 'event 2']);
        const event = due.find((item) => nameOf(item) === 'event 1') as WorkItem;
        const close = due.find((item) => nameOf(item) === 'close') as WorkItem;
        const isOvertaken = () =>
          Promise.all([event, close].map((item) => store.isOvertaken(item, 9)));
        expect(await isOvertaken()).toEqual([false, false]); // the others are worked on
        await store.giveBack(close);
        expect(await isOvertaken()).toEqual([true, false]);
        await store.reschedule(due[0] as WorkItem, { dueAt: 10, attempts: 1 });
        expect(await isOvertaken()).toEqual([true, false]);
        await store.giveBack(due[1] as WorkItem);
        expect(await isOvertaken()).toEqual([true, true]);
      });

      test('is for events while every deletion waits for its next try', async () => {
        const { store, accept } = await setUp();
        for (const text of ['a', 'b']) await accept(text);
        await accept('event', 5, { path: 'events' });
        for (const item of await store.lease('match', 0, 2))
          await store.reschedule(item, { dueAt: 90, attempts: 1 });
        expect((await leaseOne(store, 'match', 5)).payload?.toString()).toBe('event');
        expect(await store.nextDueAt('match')).toBe(90);
      });

      test('ends after 25 seconds; then whoever had it can write nothing any more', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        const lost = await leaseOne(store);
        expect(await store.lease('match', 25 * SECOND - 1, 1)).toEqual([]);
        const mine = await leaseOne(store, 'match', 25 * SECOND);
        expect(await claimAll(store, lost, [1])).toBeUndefined();
        expect(await store.saveProgress(lost, matching, 0)).toBe(false);
        expect(await store.reschedule(lost, { dueAt: 0, attempts: 1 })).toBe(false);
        expect(await store.settle(lost, { outcome: 'UNMATCHED', attempts: 1 }, 0)).toBe('lost');
        expect(await store.settle(mine, { outcome: 'UNMATCHED', attempts: 1 }, 0)).toBe('settled');
      });

      test('is renewed with the progress, and forgotten when the only worker starts anew', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        const item = await leaseOne(store);
        expect(await store.saveProgress(item, matching, 20 * SECOND)).toBe(true);
        expect(await store.lease('match', 30 * SECOND, 1)).toEqual([]);
        await store.forgetLeases(1e9);
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
        expect(await store.lease('match', 60 * SECOND, 10, SECOND)).toEqual([]);
        expect(await store.nextDueAt('match')).toBe(1e6);
        await accept('b');
        expect(await store.lease('match', 60 * SECOND, 10)).toEqual([]);
        await store.forgetLeases(0);
        // Events in its hands are its own until the other one ends all leases.
        expect(await store.saveProgress(item, matching, 0)).toBe(true);
        await workAs(INSTANCE);
        await store.forgetLeases(0);
        expect(await store.saveProgress(item, matching, 0)).toBe(false);
        expect(await store.lease('match', 0, 10)).toHaveLength(3);
      });

      test('that is given back leaves the event due', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        await store.giveBack(await leaseOne(store));
        expect((await leaseOne(store)).payload?.toString()).toBe('a');
      });

      test('of many events is given back at once, each due at its own time', async () => {
        const { store, accept } = await setUp();
        for (const text of ['a', 'b']) await accept(text);
        const [first, second] = await store.lease('match', 0, 2);
        if (!first || !second) throw new Error('nothing is due');
        await store.postpone([
          { item: first, progress: { ...matching, misses: 1 }, dueAt: 10 },
          { item: second, progress: matching, dueAt: 20 },
        ]);
        expect(await store.nextDueAt('match')).toBe(10);
        const [due] = await store.lease('match', 15, 2);
        expect(due).toMatchObject({ event: first.event, progress: { misses: 1 } });
      });

      test('that is given back for want of the partner waits, and is due for the next worker', async () => {
        const { store, accept, receipts } = await setUp();
        const [id] = [await accept('a'), await accept('b')];
        const wait = async (): Promise<void> => {
          const lastError = 'partner-unknown';
          const [item] = await store.lease('match', 5, 1);
          if (!item) throw new Error('nothing is due');
          await store.postpone([{ item, progress: matching, dueAt: 90, lastError }]);
        };
        await wait();
        expect((await store.counts()).lackedPartners).toEqual(['crm-one']);
        expect((await receipts.read(id))?.events[0]).toMatchObject({
          outcome: 'PENDING',
          attempts: 0,
          lastError: 'partner-unknown',
        });
        expect(await store.lease('match', 5, 10)).toHaveLength(1); // the other one
        await store.forgetLeases(50);
        await store.lease('match', 5, 1); // of the other one
        const known = await leaseOne(store, 'match', 50);
        expect(await claimAll(store, known, [1])).toEqual([1]);
        expect((await store.counts()).lackedPartners).toEqual([]);
        expect((await receipts.read(id))?.events[0]).not.toHaveProperty('lastError');
      });

      test('of an event sealed under another key brings no payload', async () => {
        const { fixture, accept } = await setUp();
        await accept('a');
        const other = fixture.storeWith(Buffer.alloc(32, 2));
        expect(await leaseOne(other)).not.toHaveProperty('payload');
      });
    });

    describe('a claim', () => {
      test('and the event’s progress are one: then the event is due for its actions', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a');
        const item = await leaseOne(store);
        expect(await claimAll(store, item, [3, 1])).toEqual([1, 3]);
        expect(await store.lease('match', 50, 1)).toEqual([]);
        const due = await leaseOne(store, 'act', 5);
        expect(due.progress).toEqual({
          ...act,
          leads: [
            { number: 1, state: 'open' },
            { number: 3, state: 'open' },
          ],
        });
        expect(await store.leadsOf(due)).toEqual([1, 3]);
        expect((await receipts.read(id))?.events[0]?.leadIds).toEqual(['1', '3']);
      });

      test('is undone together with the progress when the commit fails', async () => {
        const { fixture, store, accept } = await setUp();
        await accept('a');
        const item = await leaseOne(store);
        await fixture.failProgress();
        await expect(claimAll(store, item, [1])).rejects.toThrow('no');
        expect(await store.leadsOf(item)).toEqual([]);
      });

      const withdrawals = async (fixture: WorkFixture, number: number) =>
        (await fixture.auditOf(`claim/${number}`))
          .filter(({ action }) => action === 'claim.withdraw')
          .map(({ action, actor, changes }) => [action, actor.kind, changes?.['reason']]);

      test('for now is taken back, audited, by a match that is certain of other leads', async () => {
        const { fixture, store, accept } = await setUp();
        await accept('a');
        await store.claim(await leaseOne(store), { leads: [1, 2], conflicts: [] }, next);
        expect(await claimAll(store, await leaseOne(store), [2, 3])).toEqual([2, 3]);
        expect(await withdrawals(fixture, 1)).toEqual([
          ['claim.withdraw', 'system', 'better-match'],
        ]);
        expect(await withdrawals(fixture, 2)).toEqual([]);
      });

      test('for now of a lead that turns out to be in conflict is taken back at once', async () => {
        const { fixture, store, receipts, accept } = await setUp();
        const id = await accept('a');
        await store.claim(await leaseOne(store), { leads: [1, 2], conflicts: [] }, next);
        const better = { leads: [2], conflicts: [1] };
        expect(await store.claim(await leaseOne(store), better, next)).toEqual([2]);
        expect(await withdrawals(fixture, 1)).toEqual([
          ['claim.withdraw', 'system', 'lead-id-conflict'],
        ]);
        expect((await receipts.read(id))?.events[0]).toMatchObject({
          leadIds: ['2'],
          note: 'lead-id-conflict',
        });
      });

      test('for now is taken back when the event ends UNMATCHED, and one for good is not', async () => {
        const { fixture, store, receipts, accept } = await setUp();
        const wrong = await accept('a');
        await store.claim(await leaseOne(store), { leads: [1], conflicts: [] }, next);
        const item = await leaseOne(store);
        await store.settle(item, { outcome: 'UNMATCHED', attempts: 3 }, 7);
        expect(await store.leadsOf(item)).toEqual([]);
        expect((await receipts.read(wrong))?.events[0]?.leadIds).toEqual([]);
        expect(await withdrawals(fixture, 1)).toEqual([['claim.withdraw', 'system', 'unmatched']]);
        const id = await accept('b');
        await claimAll(store, await leaseOne(store), [1]);
        const acting = await leaseOne(store, 'act', 5);
        await store.settle(acting, { outcome: 'UNMATCHED', attempts: 1 }, 8);
        expect(await store.leadsOf(acting)).toEqual([1]);
        expect((await receipts.read(id))?.events[0]?.outcome).toBe('UNMATCHED');
      });

      test('for now that an operator gave back is neither made again nor audited twice', async () => {
        const { fixture, store, accept } = await setUp();
        await accept('a');
        await store.claim(await leaseOne(store), { leads: [1], conflicts: [] }, next);
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
        expect(await store.leadsOf(item)).toEqual([]);
      });
    });

    describe('an end', () => {
      test('of DONE drops the payload, every other keeps it for a replay', async () => {
        const { fixture, store, accept, receipts } = await setUp();
        const id = await accept('a');
        await store.settle(await leaseOne(store), { outcome: 'DONE', attempts: 1 }, 7);
        expect(await fixture.countPayloads()).toBe(0);
        expect(await receipts.read(id)).toMatchObject({
          status: 'PROCESSED',
          events: [{ outcome: 'DONE', attempts: 1, completedAt: 7 }],
        });
        const failed = await accept('b');
        const lastError = 'transferred';
        await store.settle(await leaseOne(store), { outcome: 'FAILED', attempts: 2, lastError }, 8);
        expect(await fixture.countPayloads()).toBe(1);
        expect(await receipts.read(failed)).toMatchObject({
          status: 'FAILED',
          events: [{ outcome: 'FAILED', lastError }],
        });
        expect(await store.counts()).toMatchObject({ open: 0, deadLetters: 1, lackedPartners: [] });
      });

      test('of an event that came again meanwhile is a new start', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a', 3);
        const item = await leaseOne(store, 'match', 3);
        await accept('a', 4);
        expect(await store.settle(item, { outcome: 'DONE', attempts: 1 }, 7)).toBe('again');
        expect((await receipts.read(id))?.status).toBe('ACCEPTED');
        expect(await store.counts()).toMatchObject({ open: 1, deadLetters: 0, oldestAskedAt: 3 });
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
        await store.claim(await leaseOne(store), match, { ...next, progress: found });
        await store.reschedule(await leaseOne(store), { ...waiting, progress: found });
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
        await store.reschedule(await leaseOne(store, 'act', 5), waiting);
        await accept('a', 50);
        const again = await leaseOne(store, 'match', 50);
        expect(again).not.toHaveProperty('progress');
        expect(await store.leadsOf(again)).toEqual([1]);
      });

      test.each<[string, (store: Work, item: WorkItem) => Promise<unknown>]>([
        ['claims', (store, item) => claimAll(store, item, [1])],
        ['waits', (store, item) => store.reschedule(item, waiting)],
        [
          'waits with others',
          (store, item) => store.postpone([{ item, progress: matching, dueAt: 90_000 }]),
        ],
        ['is given back', (store, item) => store.giveBack(item)],
        ['is left behind by a crash', (store) => store.forgetLeases(1e9)],
      ])('is matched anew as soon as the run in hand %s', async (_end, endRun) => {
        const { store, accept } = await setUp();
        await accept('a');
        const item = await leaseOne(store);
        await accept('a', 50);
        expect(await store.lease('match', 50, 1)).toEqual([]);
        await endRun(store, item);
        expect(await leaseOne(store, 'match', 50)).toMatchObject({ attempts: 0 });
        expect(await store.lease('act', 50, 1)).toEqual([]);
      });

      test('is left to the worker that took it over', async () => {
        const { store, accept } = await setUp();
        await accept('a');
        const late = await leaseOne(store);
        await leaseOne(store, 'match', 30 * SECOND);
        await accept('a', 30 * SECOND);
        expect(await store.settle(late, { outcome: 'DONE', attempts: 1 }, 7)).toBe('lost');
        expect(await store.lease('match', 31 * SECOND, 1)).toEqual([]);
      });
    });

    describe('the history of an event', () => {
      const by = { actor: { kind: 'token', subject: 'ada' }, action: 'receipt.replay' } as const;

      test('has each attempt, each end, and who had it worked again', async () => {
        const { store, accept, receipts, fixture } = await setUp();
        const id = await accept('a', 3);
        const historyOf = async () => (await receipts.read(id))?.events[0]?.history;
        const missed = { at: 4, what: 'missed' } as const;
        const none = { leads: [], conflicts: [] };
        await store.claim(await leaseOne(store, 'match', 4), none, {
          ...next,
          dueAt: 4,
          step: missed,
        });
        await claimAll(store, await leaseOne(store, 'match', 5), [1]);
        const failed = { at: 6, what: 'failed', code: 'locked' } as const;
        const acting = await leaseOne(store, 'act', 6);
        await store.reschedule(acting, {
          dueAt: 7,
          attempts: 1,
          lastError: 'locked',
          step: failed,
        });
        const last = await leaseOne(store, 'act', 7);
        await store.settle(last, { outcome: 'FAILED', lastError: 'locked', attempts: 2 }, 8);
        await receipts.replay(id, { ...by, at: 9, subject: 'receipt/1' });
        const first = [missed, { at: 5, what: 'matched' }, failed];
        const again = [
          { at: 8, what: 'ended', outcome: 'FAILED', code: 'locked' },
          { at: 9, what: 'replayed', by: 'ada' },
        ];
        expect(await historyOf()).toEqual([...first, ...again]);
        const unmatched = { outcome: 'UNMATCHED', attempts: 3 } as const;
        await store.settle(await leaseOne(store, 'match', 9), unmatched, 10);
        await receipts.replayAll({}, { ...by, at: 11, subject: 'receipts' });
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
          await store.reschedule(item, { dueAt: at, attempts: at, step: { at, what: 'failed' } });
        }
        const history = (await receipts.read(id))?.events[0]?.history ?? [];
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
        await store.settle(item, { outcome: 'FAILED', attempts: 1 }, 5);
        await accept('later', 6);
        await receipts.replay(id, { ...by, at: 8, subject: 'receipt/1' });
        expect(await store.counts()).toMatchObject({ open: 2, deadLetters: 0, oldestAskedAt: 6 });
        await store.settle(await leaseOne(store, 'match', 6), { outcome: 'DONE', attempts: 1 }, 7);
        expect(await store.counts()).toMatchObject({ open: 1, deadLetters: 0, oldestAskedAt: 8 });
        await store.settle(await leaseOne(store, 'match', 8), { outcome: 'DONE', attempts: 1 }, 9);
        await accept('a', 20);
        expect((await receipts.read(id))?.events[0]?.history.at(-1)).toEqual({
          at: 20,
          what: 'repeated',
        });
        expect(await store.counts()).toMatchObject({ open: 1, deadLetters: 0, oldestAskedAt: 20 });
      });

      test('a claim that waits for its match is said to be one', async () => {
        const { store, accept, receipts } = await setUp();
        const id = await accept('a');
        const isProvisional = async () => (await receipts.read(id))?.events[0]?.isProvisional;
        await store.claim(await leaseOne(store), { leads: [1], conflicts: [] }, next);
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
          eventOf: async (id: string) => (await receipts.read(id))?.events[0],
          end: async (outcome: 'DONE' | 'UNMATCHED' | 'FAILED', stage: 'match' | 'act' = 'act') => {
            const item = await leaseOne(store, stage, AT);
            await store.settle(item, { outcome, attempts: 1 }, AT);
          },
        };
      }

      test('a number that is learnt after its end, and was there before, is claimed and acted on', async () => {
        const { store, accept, directory, eventOf, end } = await setUpStanding();
        await directory.put([adaAt(4, AT)]);
        const id = await accept('a', AT, ofAda);
        await claimAll(store, await leaseOne(store, 'match', AT), [4], AT);
        await end('DONE');
        await directory.put([adaAt(5, AT), adaAt(6, AT + 1)]);
        expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING', leadIds: ['4', '5'] });
        const item = await leaseOne(store, 'act', AT);
        expect(item.progress).toEqual({
          ...act,
          leads: [
            { number: 4, state: 'done' },
            { number: 5, state: 'open' },
          ],
        });
        expect(await store.leadsOf(item)).toEqual([4, 5]);
      });

      test.each(['put', 'putCaughtUp', 'putCrawled'] as const)(
        'a name that a known number gains counts, too, whichever way it is learnt: %s',
        async (way) => {
          const { accept, directory, eventOf, end } = await setUpStanding();
          await directory.put([entry(4, { createdAt: 1 })]);
          const id = await accept('a', AT, ofAda);
          await end('UNMATCHED', 'match');
          await directory[way]([entry(4, { createdAt: 1, updatedAt: 2, identities: [ADA] })], 2);
          expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING', leadIds: ['4'] });
        },
      );

      test('an event that is being matched gets the lead, and whoever has it in hand loses it', async () => {
        const { store, accept, directory, eventOf } = await setUpStanding();
        const id = await accept('a', AT, ofAda);
        const item = await leaseOne(store, 'match', AT);
        await directory.put([adaAt(4, AT)]);
        expect(await store.settle(item, { outcome: 'UNMATCHED', attempts: 2 }, AT)).toBe('lost');
        expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING', leadIds: ['4'] });
        expect(await leaseOne(store, 'match', AT)).toMatchObject({ receiptId: id });
      });

      test('what was there before by another name, or is another person, is left alone', async () => {
        const { accept, directory, eventOf } = await setUpStanding();
        const names = [{ kind: 'lead-id', number: 4 } as const, hashed(ADA)];
        const id = await accept('a', AT, { names, actions });
        await directory.put([entry(4, { identities: [BOB] }), entry(5, { identities: [BOB] })]);
        await directory.put([entry(4, { identities: [BOB] })]);
        // The number was claimed with the acceptance; the worker finds out whose it is.
        expect((await eventOf(id))?.leadIds).toEqual(['4']);
        await directory.put([adaAt(6, 1)]);
        expect((await eventOf(id))?.leadIds).toEqual(['4', '6']);
      });

      test('several leads of one page are claimed, of several events and merged people as well', async () => {
        const { accept, directory, eventOf, receipts } = await setUpStanding();
        const old = externalId('crm-one', 'old');
        const byId = await accept('b', AT, { names: [hashed(EXTERNAL)], actions });
        const byEmail = await accept('a', AT, ofAda);
        await directory.put([entry(4, { identities: [old] }), adaAt(5, 1), adaAt(6, 1)]);
        expect((await eventOf(byEmail))?.leadIds).toEqual(['5', '6']);
        expect((await eventOf(byId))?.leadIds).toEqual([]);
        const merge = { from: [hashed(old).hash], to: hashed(EXTERNAL).hash };
        const sameEventKey = Buffer.from('merge');
        await acceptEvent(receipts, { at: AT, sameEventKey, outcome: 'DONE', merge });
        expect((await eventOf(byId))?.leadIds).toEqual(['4']);
        await directory.put([entry(7, { identities: [old] })]);
        expect((await eventOf(byId))?.leadIds).toEqual(['4', '7']);
      });

      test('a lead that a partner’s event takes by a rule is not a deletion’s', async () => {
        const { accept, directory, eventOf } = await setUpStanding();
        const id = await accept('a', AT, { path: 'events', names: [hashed(ADA)] });
        await directory.put([adaAt(4, 1)]);
        expect((await eventOf(id))?.leadIds).toEqual([]);
      });

      test('never what an operator released from it, until the partner asks again', async () => {
        const { fixture, store, accept, directory, eventOf, end } = await setUpStanding();
        await directory.put([adaAt(4, 1)]);
        const id = await accept('a', AT, ofAda);
        await claimAll(store, await leaseOne(store, 'match', AT), [4], AT);
        await end('DONE');
        await fixture.claims.release(4, releaseOf(4, AT));
        await directory.put([adaAt(4, 1)]);
        expect(await eventOf(id)).toMatchObject({ outcome: 'DONE', note: 'claim-released' });
        await directory.put([adaAt(5, 1)]);
        expect(await eventOf(id)).toMatchObject({ outcome: 'PENDING' });
        expect(await store.leadsOf(await leaseOne(store, 'act', AT))).toEqual([5]);
      });

      test('until the first full crawl that began after it has ended, and for a day at least', async () => {
        const { accept, directory, eventOf } = await setUpStanding();
        const id = await accept('a', AT, ofAda);
        const leads = async () => (await eventOf(id))?.leadIds;
        await directory.completeCrawl(AT + DAY); // it began before
        await directory.put([adaAt(4, 1)]);
        expect(await leads()).toEqual(['4']);
        await directory.startCrawl(AT + 1);
        await directory.completeCrawl(AT + DAY - 1); // it ended too soon
        await directory.put([adaAt(5, 1)]);
        expect(await leads()).toEqual(['4', '5']);
        await directory.startCrawl(AT + DAY);
        await directory.put([adaAt(6, 1)]);
        await directory.completeCrawl(AT + DAY);
        await directory.put([adaAt(7, 1)]);
        expect(await leads()).toEqual(['4', '5', '6']);
      });

      test('from its last call on, when it comes again', async () => {
        const { accept, directory, eventOf, end } = await setUpStanding();
        const id = await accept('a', AT, ofAda);
        await end('UNMATCHED', 'match');
        await directory.startCrawl(AT);
        expect(await accept('a', AT + DAY, ofAda)).toBe(id);
        await directory.completeCrawl(AT + 3 * DAY);
        await directory.put([adaAt(4, AT + DAY), adaAt(5, AT + DAY + 1)]);
        expect((await eventOf(id))?.leadIds).toEqual(['4']);
      });

      test('by the names that it had at its last call', async () => {
        const { accept, directory, eventOf, end } = await setUpStanding();
        const names = [hashed(BOB), hashed(EXTERNAL)];
        const id = await accept('a', AT, { names, actions });
        await end('UNMATCHED', 'match');
        await accept('a', AT + 1, ofAda);
        await directory.put([4, 5].map((number) => entry(number, { identities: [BOB, EXTERNAL] })));
        expect((await eventOf(id))?.leadIds).toEqual([]);
        await directory.put([adaAt(6, 1)]);
        expect((await eventOf(id))?.leadIds).toEqual(['6']);
      });

      test('in the repository that is known first, when none was known', async () => {
        const world = await setUpStanding({ isIdentified: false });
        const { store, accept, directory, openedAs } = world;
        const number = { kind: 'lead-id', number: 9 } as const;
        await accept('a', AT, { names: [number, hashed(ADA)], actions });
        await openedAs(REPOSITORY_ID);
        await directory.put([adaAt(8, 1)]);
        await openedAs(REPOSITORY_ID + 1);
        await directory.put([entry(9), adaAt(10, 1)]);
        const item = await leaseOne(store, 'match', AT);
        expect(await store.leadsOf(item)).toEqual([]);
        await openedAs(REPOSITORY_ID);
        await directory.put([adaAt(9, 1)]);
        expect(await store.leadsOf(item)).toEqual([8, 9]);
      });

      test('in its repository alone', async () => {
        const { accept, directory, eventOf, openedAs } = await setUpStanding();
        const id = await accept('a', AT, { ...ofAda, names: [{ kind: 'lead-id', number: 9 }] });
        await openedAs(REPOSITORY_ID + 1);
        await directory.put([entry(9)]);
        await openedAs(REPOSITORY_ID);
        expect(await eventOf(id)).toMatchObject({ leadIds: ['9'] });
      });
    });

    describe('an event with a rule', () => {
      const effect = { addLabels: ['won'], removeLabels: [], assign: [] };
      const todo = { actions: [], effect: { ...effect, repositoryId: REPOSITORY_ID } };
      const ofLead = (number: number) =>
        ({ path: 'events', names: [{ kind: 'lead-id', number }] }) as const;
      const find = (store: Work, item: WorkItem, leads: number[], now = 5) =>
        store.confirm(item, { leads, conflicts: [] }, { actions: [], effect, now });

      test('has the leads that it names from its acceptance on, and claims none', async () => {
        const { receipts, store, accept } = await setUp();
        const id = await accept('a', 0, ofLead(1));
        expect((await receipts.read(id))?.events[0]).toMatchObject({
          leadIds: ['1'],
          isProvisional: false,
        });
        expect(await find(store, await leaseOne(store), [1, 2])).toEqual([1, 2]);
        const item = await leaseOne(store, 'act', 5);
        expect(item).toMatchObject({ path: 'events', position: 0, receivedAt: 0 });
        expect(item.progress).toMatchObject({ ...todo, leads: [{ number: 1 }, { number: 2 }] });
        expect(await store.leadsUnderLease(item)).toEqual([1, 2]);
        expect(await store.settle(item, { outcome: 'IGNORED', attempts: 1 }, 6)).toBe('settled');
        expect((await receipts.read(id))?.events[0]).toMatchObject({
          outcome: 'IGNORED',
          history: [{ what: 'matched', effect: { addLabels: ['won'], comments: false } }],
        });
      });

      test('loses a lead to a deletion, and waits while that one is not certain', async () => {
        const { store, accept } = await setUp();
        await accept('a', 0, ofLead(1));
        await find(store, await leaseOne(store), [1, 2]);
        const item = await leaseOne(store, 'act', 5);
        expect(await store.blockedUntil(item, 1, 5)).toBeUndefined();
        await accept('deletion', 7, { names: [{ kind: 'lead-id', number: 1 }] });
        expect(await store.blockedUntil(item, 1, 7)).toBe(7);
        expect(await store.blockedUntil(item, 2, 7)).toBeUndefined();
        await claimAll(store, await leaseOne(store, 'match', 7), [1], 7);
        expect(await store.blockedUntil(item, 1, 7)).toBeUndefined();
        expect(await store.leadsUnderLease(item)).toEqual([2]);
      });

      test('waits for those about the same lead that came before, until they have ended', async () => {
        const { store, accept } = await setUp();
        await accept('first', 0, ofLead(1));
        await accept('other', 0, ofLead(2));
        await accept('second', 1, ofLead(1));
        for (const item of await store.lease('match', 1, 3))
          await find(store, item, [item.payload?.toString() === 'other' ? 2 : 1], 5);
        const items = await store.lease('act', 5, 3);
        const [first, other, second] = ['first', 'other', 'second'].map((name) =>
          items.find(({ payload }) => payload?.toString() === name),
        );
        if (!first || !other || !second) throw new Error('not all are due');
        const before = (item: WorkItem, number: number) => store.blockedUntil(item, number, 5);
        expect(await before(first, 1)).toBeUndefined();
        expect(await before(other, 2)).toBeUndefined();
        expect(await before(second, 1)).toBe(5);
        await store.reschedule(first, { dueAt: 900, attempts: 1 });
        expect(await before(second, 1)).toBe(900);
        const lacking = await leaseOne(store, 'act', 900);
        const lastError = 'partner-unknown';
        await store.reschedule(lacking, { dueAt: 901, attempts: 1, lastError });
        expect(await before(second, 1)).toBeUndefined();
        const again = await leaseOne(store, 'act', 901);
        await store.reschedule(again, { dueAt: 902, attempts: 1 });
        expect(await before(second, 1)).toBe(902);
        const last = await leaseOne(store, 'act', 902);
        await store.settle(last, { outcome: 'FAILED', attempts: 2 }, 903);
        expect(await before(second, 1)).toBeUndefined();
      });

      test('waits for what came before and nobody has looked at, for a minute at most', async () => {
        const { store, accept } = await setUp();
        await accept('first', 0, { path: 'events' });
        await accept('second', 1, ofLead(1));
        const [first, second] = await store.lease('match', 1, 2);
        if (!first || !second) throw new Error('not all are due');
        await find(store, second, [1], 5);
        const item = await leaseOne(store, 'act', 5);
        expect(await store.blockedUntil(item, 1, 5)).toBe(0);
        expect(await store.blockedUntil(item, 1, 60 * SECOND)).toBeUndefined();
        await store.claim(first, { leads: [], conflicts: [] }, { ...next, attempts: 1 });
        expect(await store.blockedUntil(item, 1, 5)).toBeUndefined();
      });

      test('has nothing to do with the leads of another repository', async () => {
        const { store, accept, openedAs } = await setUp();
        await accept('a', 0, ofLead(1));
        await find(store, await leaseOne(store), [1]);
        const item = await leaseOne(store, 'act', 5);
        expect(await store.hasLeadsElsewhere(item)).toBe(false);
        await openedAs(REPOSITORY_ID + 1);
        expect(await store.leadsUnderLease(item)).toEqual([]);
        expect(await store.hasLeadsElsewhere(item)).toBe(true);
      });

      test('that comes again has its leads again, and claims none', async () => {
        const { receipts, store, accept } = await setUp();
        const id = await accept('a', 0, ofLead(1));
        await find(store, await leaseOne(store), [1]);
        await store.settle(await leaseOne(store, 'act', 5), { outcome: 'DONE', attempts: 1 }, 6);
        await accept('a', 9, ofLead(1));
        expect((await receipts.read(id))?.events[0]).toMatchObject({
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
        const [first, second] = await store.lease('match', 0, 2);
        if (!first || !second) throw new Error('nothing is due');
        return { store, first, second };
      };

      test.each([
        ['deletions', { triedAt: 7, isWritten: true }],
        ['events', undefined],
      ] as const)('is known to the others of its delivery: %s', async (path, told) => {
        const { store, first, second } = await openBoth(path);
        const own = store.ownComment(first, 1);
        expect(await own.read()).toBeUndefined();
        await own.noteTry(5);
        expect(await own.read()).toEqual({ triedAt: 5, isWritten: false });
        await own.noteTry(7);
        await own.noteWritten();
        expect(await store.ownComment(second, 1).read()).toEqual(told);
        expect(await store.ownComment(second, 2).read()).toBeUndefined();
        await store.settle(first, { outcome: 'DONE', attempts: 1 }, 8);
        expect(await own.read()).toEqual({ triedAt: 7, isWritten: true });
      });

      test('is not begun by a worker that has lost the event', async () => {
        const { store, first } = await openBoth('deletions');
        const own = store.ownComment({ ...first, lease: 'of another' }, 1);
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
      const other = fixture.storeWith(Buffer.alloc(32, 1));
      for (let number = 0; number < 20; number += 1) await accept(`e${number}`);
      const leased = await Promise.all(
        [store, other, store, other].map((one) => one.lease('match', 0, 5)),
      );
      const events = leased.flat().map(({ event }) => event);
      expect(new Set(events).size).toBe(events.length);
      expect(new Set(leased.flat().map(({ lease }) => lease)).size).toBe(events.length);
    });
  });
}
