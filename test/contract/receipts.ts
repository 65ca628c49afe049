import { beforeEach, describe, expect, test } from 'vitest';
import { toRfc3339 } from '#shared/clock.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import type { AuditEntry } from '#shared/audit.ts';
import type { NewEvent, NewReceipt } from '#partners/intake/accept-delivery.ts';
import { type ReceiptFilter, listReceipts, readReceipt } from '#partners/receipts/read-receipts.ts';
import { purgeReceipts } from '#partners/receipts/purge-receipts.ts';
import { operatorsOf, type ReceiptScope } from '../support/partners.ts';

/** Engine of the contract. Everything is released when the running test ends. */
export type ReceiptsFixture = {
  store: ReceiptScope;
  /** Puts an event where the worker would have put it. */
  settle(
    receiptId: string,
    end: {
      position?: number;
      outcome: Outcome;
      at?: number;
      lastError?: string;
      attempts?: number;
      leadIds?: readonly string[];
    },
  ): Promise<void>;
  /** As if a worker had the event in hand. */
  begin(receiptId: string): Promise<void>;
  stateOf(receiptId: string): Promise<EventState[]>;
  auditOf(subject: string): Promise<AuditEntry[]>;
};

/** Columns of an event beside those that its receipt shows. */
export type EventState = {
  position: number;
  outcome: Outcome;
  attempts: number;
  dueAt?: number;
  again: number;
  /** Decrypted. */
  payload: string | undefined;
};

type Open = () => Promise<ReceiptsFixture>;

const AT = 1_790_000_000_000;
let serial = 0;

/** One body for every engine: what `ReceiptScope` promises. */
export function describeReceipts(engine: string, open: Open): void {
  describe(`receipts on ${engine}`, () => {
    let fixture: ReceiptsFixture;
    let store: ReceiptScope;

    beforeEach(async () => {
      serial = 0;
      fixture = await open();
      ({ store } = fixture);
    });

    const idOf = async (receipt: NewReceipt) => (await store.accept(receipt)).receipt.id;
    const ids = async (filter: ReceiptFilter, limit: number, after?: number) =>
      (await listReceipts(store.db, { filter, limit, after })).map(({ item }) => item.id);

    describe('a delivery', () => {
      test('is read back as it was accepted', async () => {
        const hash = Buffer.alloc(32, 9);
        const names: NewEvent['names'] = [
          { kind: 'correlation-id', hash },
          { kind: 'external-id/crm-one', hash },
          { kind: 'email', hash },
        ];
        const delivery = receipt({
          externalId: 'x-1',
          events: [
            event('a', { eventType: 't', eventId: 'e', externalId: 'x-1', names }),
            event('b', { outcome: 'REJECTED', lastError: 'names-nobody' }),
            event('c', { outcome: 'IGNORED' }),
          ],
        });
        const accepted = await store.accept(delivery);
        const { id, partnerId, eventType, externalId, correlationId, receivedAt } = delivery;
        const shown = { id, partnerId, eventType, externalId, correlationId, receivedAt };
        expect(accepted).toEqual({
          kind: 'accepted',
          receipt: { ...shown, status: 'ACCEPTED' },
          queued: 1,
          written: delivery.events,
        });
        const leads = { leadIds: [], attempts: 0, isReplayable: false, isProvisional: false };
        const none = { ...leads, names: [], history: [] };
        const kinds = ['correlation-id', 'external-id', 'email'];
        const named = { eventType: 't', eventId: 'e', externalId: 'x-1' };
        const rejected = { outcome: 'REJECTED', lastError: 'names-nobody', completedAt: AT };
        expect(await readReceipt(store.db, id)).toEqual({
          ...shown,
          path: delivery.path,
          status: 'ACCEPTED',
          events: [
            { position: 0, ...named, outcome: 'PENDING', dueAt: AT, ...none, names: kinds },
            { position: 1, ...rejected, ...none },
            { position: 2, outcome: 'IGNORED', completedAt: AT, ...none },
          ],
        });
      });

      test('without work is processed at once, yet answered as accepted', async () => {
        const empty = await store.accept(receipt({ events: [] }));
        const ignored = await store.accept(
          receipt({ events: [event('a', { outcome: 'IGNORED' })] }),
        );
        for (const { kind, receipt, queued } of [empty, ignored]) {
          expect([kind, receipt.status, queued]).toEqual(['accepted', 'ACCEPTED', 0]);
          expect((await readReceipt(store.db, receipt.id))?.status).toBe('PROCESSED');
        }
      });

      test.each([
        [['DONE', 'IGNORED'], 'PROCESSED'],
        [['DONE', 'UNMATCHED'], 'UNMATCHED'],
        [['DONE', 'REJECTED'], 'UNMATCHED'],
        [['UNMATCHED', 'FAILED', 'REJECTED'], 'FAILED'],
        [['FAILED', 'UNMATCHED', 'PENDING'], 'ACCEPTED'],
      ] as const)('with events that end %j is %s', async (outcomes, status) => {
        const ends = [...outcomes.entries()];
        const id = await idOf(receipt({ events: ends.map(([at]) => event(`e${at}`)) }));
        for (const [position, outcome] of ends)
          if (outcome !== 'PENDING') await fixture.settle(id, { position, outcome });
        expect((await readReceipt(store.db, id))?.status).toBe(status);
      });

      test('that names nobody is UNMATCHED at once', async () => {
        const id = await idOf(receipt({ events: [event('a', { outcome: 'REJECTED' })] }));
        expect((await readReceipt(store.db, id))?.status).toBe('UNMATCHED');
      });

      test('keeps the bytes of an event that waits, and of no other', async () => {
        const id = await idOf(
          receipt({ events: [event('a'), event('b', { outcome: 'IGNORED' })] }),
        );
        expect((await fixture.stateOf(id)).map(({ payload }) => payload)).toEqual([
          'bytes of a',
          undefined,
        ]);
      });

      test('says which of its events came before, and whose they are', async () => {
        const before = await idOf(receipt({ events: [event('a')] }));
        const id = await idOf(receipt({ events: [event('b'), event('a'), event('b')] }));
        const read = await readReceipt(store.db, id);
        expect(read?.events.map(({ position }) => position)).toEqual([0]);
        expect(read?.repeats).toEqual([
          { position: 1, receiptId: before },
          { position: 2, receiptId: id },
        ]);
      });

      test('with an id nobody has is undefined', async () => {
        expect(await readReceipt(store.db, 'no-such-receipt')).toBeUndefined();
      });
    });

    describe('a repeat', () => {
      test('gets the original receipt as it was first answered', async () => {
        const first = await store.accept(receipt({ externalId: 'x', events: [event('a')] }));
        await fixture.settle(first.receipt.id, { outcome: 'DONE' });
        const again = await store.accept(receipt({ events: [event('a')] }));
        const repeat = {
          kind: 'repeat',
          receipt: first.receipt,
          queued: 0,
          written: [],
        };
        expect(again).toEqual(repeat);
        expect(await listReceipts(store.db, { filter: {}, limit: 10 })).toHaveLength(1);
      });

      test('that comes 50 times at once is one receipt', async () => {
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => store.accept(receipt({ events: [event('a')] }))),
        );
        expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
        expect(new Set(answers.map(({ receipt }) => receipt.id)).size).toBe(1);
        expect(await listReceipts(store.db, { filter: {}, limit: 10 })).toHaveLength(1);
      });

      test('in a batch leaves the new events, which get a receipt of their own', async () => {
        const first = await idOf(receipt({ events: [event('a')] }));
        const second = await store.accept(
          receipt({ events: [event('a'), event('b'), event('c')] }),
        );
        expect([second.kind, second.queued]).toEqual(['accepted', 2]);
        expect(await positions(second.receipt.id)).toEqual([1, 2]);
        expect(await positions(first)).toEqual([0]);
      });

      test('among many that come at once finds those that came before it', async () => {
        const all = [['a'], ['b', 'a'], ['c'], ['a'], ['d', 'd']].map((names) =>
          receipt({ events: names.map((name, position) => ({ ...event(name), position })) }),
        );
        const [a, b, c, again, d] = all.map(({ id }) => id);
        const accepted = await Promise.all(all.map((delivery) => store.accept(delivery)));
        expect(accepted.map(({ kind, receipt: { id } }) => [kind, id])).toEqual([
          ['accepted', a],
          ['accepted', b],
          ['accepted', c],
          ['repeat', a],
          ['accepted', d],
        ]);
        expect(accepted.map(({ written }) => written.length)).toEqual([1, 1, 1, 0, 1]);
        expect(await ids({}, 10)).toEqual([d, c, b, a]);
        expect(await readReceipt(store.db, again ?? '')).toBeUndefined();
        for (const id of [a, b, c, d]) expect(await positions(id ?? '')).toEqual([0]);
      });

      test('of a whole batch gets the receipt of its first event', async () => {
        const a = await idOf(receipt({ events: [event('a')] }));
        await idOf(receipt({ events: [event('b')] }));
        const both = await store.accept(receipt({ events: [event('a'), event('b')] }));
        expect([both.kind, both.receipt.id]).toEqual(['repeat', a]);
      });

      test('within one batch is taken once', async () => {
        const id = await idOf(receipt({ events: [event('a'), event('b'), event('a')] }));
        expect(await positions(id)).toEqual([0, 1]);
      });

      test('of an empty batch does not exist: each has a receipt', async () => {
        expect((await store.accept(receipt({ events: [] }))).kind).toBe('accepted');
        expect((await store.accept(receipt({ events: [] }))).kind).toBe('accepted');
      });

      const positions = async (id: string) =>
        (await fixture.stateOf(id)).map(({ position }) => position);
    });

    describe('a settled event that comes again', () => {
      const cases: [Outcome, boolean, 'queued' | 'left'][] = [
        ['DONE', true, 'left'],
        ['DONE', false, 'queued'],
        ['UNMATCHED', true, 'queued'],
        ['UNMATCHED', false, 'queued'],
        ['FAILED', true, 'queued'],
        ['FAILED', false, 'queued'],
        ['PENDING', true, 'left'],
        ['PENDING', false, 'left'],
      ];

      test.each(cases)(
        '%s, with an id of its own: %s → %s',
        async (outcome, hasEventId, expected) => {
          const id = await idOf(
            receipt({ events: [hasEventId ? event('a') : eventWithoutId('a')] }),
          );
          if (outcome !== 'PENDING')
            await fixture.settle(id, { outcome, lastError: 'why', attempts: 3 });
          const repeat = receipt({
            events: [hasEventId ? event('a') : eventWithoutId('a')],
            receivedAt: AT + 5,
          });
          const again = await store.accept(repeat);
          expect([again.kind, again.receipt.id]).toEqual(['repeat', id]);
          expect(again.queued).toBe(expected === 'queued' ? 1 : 0);
          const [state] = await fixture.stateOf(id);
          if (expected === 'left') return expect(state).toMatchObject({ outcome, again: 0 });
          expect(state).toMatchObject({ outcome: 'PENDING', attempts: 0, dueAt: AT + 5 });
          expect(state?.payload).toBe('bytes of a');
          expect((await readReceipt(store.db, id))?.status).toBe('ACCEPTED');
          return expect((await readReceipt(store.db, id))?.events[0]).not.toHaveProperty(
            'lastError',
          );
        },
      );

      test('is queued once when 20 copies come at once', async () => {
        const id = await idOf(receipt({ events: [eventWithoutId('a')] }));
        await fixture.settle(id, { outcome: 'DONE' });
        const copies = Array.from({ length: 20 }, () =>
          store.accept(receipt({ events: [eventWithoutId('a')] })),
        );
        const queued = (await Promise.all(copies)).map((copy) => copy.queued);
        expect(queued.filter((count) => count === 1)).toHaveLength(1);
      });

      test('while it is worked, without an id: it is marked to be worked again', async () => {
        const without = await idOf(receipt({ events: [eventWithoutId('a')] }));
        const withId = await idOf(receipt({ events: [event('b')] }));
        await fixture.begin(without);
        await fixture.begin(withId);
        await store.accept(receipt({ events: [eventWithoutId('a'), event('b'), event('c')] }));
        expect(await fixture.stateOf(without)).toMatchObject([{ outcome: 'PENDING', again: AT }]);
        expect(await fixture.stateOf(withId)).toMatchObject([{ outcome: 'PENDING', again: 0 }]);
      });

      test('IGNORED, and its type deletes by now: it is worked', async () => {
        const id = await idOf(receipt({ events: [event('a', { outcome: 'IGNORED' })] }));
        await store.accept(receipt({ events: [event('a', { outcome: 'IGNORED' })] }));
        expect(await fixture.stateOf(id)).toMatchObject([{ outcome: 'IGNORED' }]);
        expect((await store.accept(receipt({ events: [event('a')] }))).queued).toBe(1);
        expect(await fixture.stateOf(id)).toMatchObject([
          { outcome: 'PENDING', payload: 'bytes of a' },
        ]);
      });

      test('is new again after its key was forgotten', async () => {
        const id = await idOf(receipt({ events: [event('a')] }));
        expect(await purgeReceipts(store.db, AT)).toEqual({ keys: 0, payloads: 0 });
        expect(await purgeReceipts(store.db, AT + 1)).toEqual({ keys: 1, payloads: 0 });
        const again = await store.accept(receipt({ events: [event('a')] }));
        expect(again.kind).toBe('accepted');
        expect(again.receipt.id).not.toBe(id);
      });
    });

    describe('the list', () => {
      test('is newest first and walks page by page without a gap', async () => {
        const all: string[] = [];
        for (let count = 0; count < 7; count += 1)
          all.unshift(await idOf(receipt({ events: [event(`e${count}`), event(`f${count}`)] })));
        const walked: string[] = [];
        let after: number | undefined;
        do {
          const rows = await listReceipts(store.db, { filter: {}, limit: 3, after });
          walked.push(...rows.map(({ item }) => item.id));
          after = rows.at(-1)?.position;
          if (walked.length === 3) await idOf(receipt({ events: [event('late')] }));
        } while (after !== undefined);
        expect(walked).toEqual(all);
        expect(await ids({ outcome: 'PENDING' }, 3)).toHaveLength(3);
      });

      test('is filtered by partner, status, outcome and time, all together', async () => {
        const one = await idOf(receipt({ events: [event('a')], receivedAt: AT }));
        const two = await idOf(
          receipt({ partnerId: 'crm-two', events: [event('b')], receivedAt: AT + 10 }),
        );
        const both = await idOf(receipt({ events: [event('c'), event('d')], receivedAt: AT + 20 }));
        await fixture.settle(one, { outcome: 'FAILED' });
        await fixture.settle(both, { position: 0, outcome: 'UNMATCHED' });
        expect(await ids({}, 9)).toEqual([both, two, one]);
        expect(await ids({ partnerId: 'crm-one' }, 9)).toEqual([both, one]);
        expect(await ids({ partnerId: 'crm' }, 9)).toEqual([]);
        expect(await ids({ status: 'FAILED' }, 9)).toEqual([one]);
        expect(await ids({ status: 'ACCEPTED' }, 9)).toEqual([both, two]);
        expect(await ids({ outcome: 'PENDING' }, 9)).toEqual([both, two]);
        expect(await ids({ outcome: 'UNMATCHED' }, 9)).toEqual([both]);
        expect(await ids({ since: AT + 10 }, 9)).toEqual([both, two]);
        expect(await ids({ since: AT + 11, outcome: 'PENDING', partnerId: 'crm-one' }, 9)).toEqual([
          both,
        ]);
      });
    });

    describe('a filter by what an event says', () => {
      const named = async (
        name: string,
        facts: Partial<NewEvent>,
        more: Partial<NewReceipt> = {},
      ) => idOf(receipt({ ...more, events: [event(name, facts), event(`${name}-2`)] }));

      test('finds the receipts of an event id, an external id and a correlation id', async () => {
        const one = await named('a', { eventId: 'e-1', externalId: 'x-1' }, { correlationId: 'k' });
        const two = await named('b', { eventId: 'e-2', externalId: 'x-1' });
        const other = { partnerId: 'crm-two', correlationId: 'k' };
        const three = await named('c', { eventId: 'e-1' }, other);
        expect(await ids({ eventId: 'e-1' }, 9)).toEqual([three, one]);
        expect(await ids({ externalId: 'x-1' }, 9)).toEqual([two, one]);
        expect(await ids({ correlationId: 'k' }, 9)).toEqual([three, one]);
        expect(await ids({ correlationId: 'k', eventId: 'e-1', partnerId: 'crm-one' }, 9)).toEqual([
          one,
        ]);
        expect(await ids({ externalId: 'x-1', eventId: 'e-3' }, 9)).toEqual([]);
        expect(await ids({ eventId: 'E-1' }, 9)).toEqual([]);
      });

      test('asks all of it of one and the same event', async () => {
        const id = await named('a', { eventId: 'e-1', externalId: 'x-1' });
        await fixture.settle(id, { position: 1, outcome: 'FAILED' });
        expect(await ids({ eventId: 'e-1', outcome: 'FAILED' }, 9)).toEqual([]);
        expect(await ids({ eventId: 'e-1', outcome: 'PENDING' }, 9)).toEqual([id]);
        expect(await ids({ correlationId: 'c-1', outcome: 'FAILED' }, 9)).toEqual([id]);
        expect(await ids({ status: 'ACCEPTED', outcome: 'FAILED', since: AT }, 9)).toEqual([id]);
      });

      test('finds the receipts of a lead, also when the leads of an event have grown', async () => {
        const one = await named('a', {});
        const two = await named('b', {});
        await fixture.settle(one, { position: 0, outcome: 'DONE', leadIds: ['24', '25'] });
        await fixture.settle(two, { position: 0, outcome: 'FAILED', leadIds: ['24'] });
        await fixture.settle(two, { position: 1, outcome: 'DONE', leadIds: ['24'] });
        expect(await ids({ leadId: 24 }, 9)).toEqual([two, one]);
        expect(await ids({ leadId: 25 }, 9)).toEqual([one]);
        expect(await ids({ leadId: 2 }, 9)).toEqual([]);
        expect(await ids({ leadId: 24, outcome: 'FAILED' }, 9)).toEqual([two]);
        await fixture.settle(two, { position: 0, outcome: 'DONE', leadIds: ['24', '26'] });
        expect(await ids({ leadId: 26 }, 9)).toEqual([two]);
      });

      test('walks its pages in order', async () => {
        const all: string[] = [];
        for (let at = 0; at < 5; at += 1) all.unshift(await named(`p${at}`, { eventId: 'same' }));
        const filter = { eventId: 'same' };
        const first = await listReceipts(store.db, { filter, limit: 3 });
        expect(first.map(({ item }) => item.id)).toEqual(all.slice(0, 3));
        expect(await ids(filter, 3, first[2]?.position)).toEqual(all.slice(3));
      });

      test('by time leaves out nothing that the clock dated before its number', async () => {
        const late = await idOf(receipt({ events: [event('a')], receivedAt: AT + 100 }));
        const between = await idOf(receipt({ events: [event('b')], receivedAt: AT }));
        const later = await idOf(receipt({ events: [event('c')], receivedAt: AT + 50 }));
        expect(await ids({ since: AT + 50 }, 9)).toEqual([later, late]);
        expect(await ids({ since: AT + 100 }, 9)).toEqual([late]);
        expect(await ids({ since: AT + 101 }, 9)).toEqual([]);
        expect(await ids({ before: AT + 100 }, 9)).toEqual([later, between]);
        expect(await ids({ before: AT + 101 }, 9)).toEqual([later, between, late]);
        expect(await ids({ before: AT }, 9)).toEqual([]);
        expect(await ids({ since: AT, before: AT + 50 }, 9)).toEqual([between]);
        expect(await ids({ before: AT + 51, outcome: 'PENDING', partnerId: 'crm-one' }, 9)).toEqual(
          [later, between],
        );
      });
    });

    describe('a list', () => {
      test('tells how many events of each receipt have each outcome', async () => {
        const events = ['a', 'b', 'c'].map((name) => event(name));
        const id = await idOf(receipt({ events: [...events, event('d', { outcome: 'IGNORED' })] }));
        await fixture.settle(id, { position: 0, outcome: 'DONE' });
        await fixture.settle(id, { position: 2, outcome: 'DONE' });
        await idOf(receipt({ events: [] }));
        const rows = await listReceipts(store.db, { filter: {}, limit: 9 });
        expect(rows.map(({ item }) => item.outcomes)).toEqual([
          {},
          { DONE: 2, IGNORED: 1, PENDING: 1 },
        ]);
      });

      test('tells the path of each receipt, and when the next of its events is due', async () => {
        const id = await idOf(receipt({ path: 'events', events: [event('a'), event('b')] }));
        await fixture.settle(id, { position: 0, outcome: 'DONE' });
        const nextOf = async () =>
          (await listReceipts(store.db, { filter: {}, limit: 1 }))[0]?.item;
        expect(await nextOf()).toMatchObject({ path: 'events', nextDueAt: AT });
        await fixture.settle(id, { position: 1, outcome: 'FAILED' });
        expect(await nextOf()).not.toHaveProperty('nextDueAt');
      });
    });

    describe('a receipt', () => {
      test('tells of each event when it is due, or whether it can be replayed', async () => {
        const id = await idOf(receipt({ path: 'events', events: [event('a'), event('b')] }));
        const read = async () => {
          const { path, events } = (await readReceipt(store.db, id)) ?? {};
          return [
            path,
            events?.map(({ position, dueAt, isReplayable }) => [position, dueAt, isReplayable]),
          ];
        };
        expect(await read()).toEqual([
          'events',
          [
            [0, AT, false],
            [1, AT, false],
          ],
        ]);
        await fixture.settle(id, { position: 0, outcome: 'FAILED', at: AT });
        expect(await read()).toEqual([
          'events',
          [
            [0, undefined, true],
            [1, AT, false],
          ],
        ]);
        await purgeReceipts(store.db, AT + 1);
        expect(await read()).toEqual([
          'events',
          [
            [0, undefined, false],
            [1, AT, false],
          ],
        ]);
      });
    });

    describe('a replay', () => {
      const now = AT + 1000;
      const actor = { kind: 'cli', subject: 'ada' } as const;
      const entryFor = (subject: string, changes?: Record<string, unknown>): AuditEntry => ({
        at: now,
        actor,
        action: 'receipt.replay',
        subject,
        ...(changes === undefined ? {} : { changes }),
      });
      const replayOne = (id: string) => operatorsOf(store.db, now).replay(id, { actor });
      const replayThese = (filter: ReceiptFilter) =>
        operatorsOf(store.db, now).replayAll(filter, { actor });
      const preview = (filter: ReceiptFilter) => operatorsOf(store.db, now).previewReplay(filter);

      test('queues what ended UNMATCHED or FAILED, from the start', async () => {
        const outcomes: Outcome[] = ['UNMATCHED', 'FAILED', 'DONE'];
        const events = outcomes.map((outcome) => event(outcome));
        const id = await idOf(receipt({ events: [...events, event('still')] }));
        for (const [position, outcome] of outcomes.entries())
          await fixture.settle(id, { position, outcome, attempts: 10, lastError: 'why' });
        expect(await replayOne(id)).toEqual({ queued: 2, notQueued: { done: 1, pending: 1 } });
        expect(await fixture.stateOf(id)).toMatchObject([
          { outcome: 'PENDING', attempts: 0, dueAt: now, payload: 'bytes of UNMATCHED' },
          { outcome: 'PENDING', attempts: 0, dueAt: now, payload: 'bytes of FAILED' },
          { outcome: 'DONE', attempts: 10 },
          { outcome: 'PENDING', dueAt: AT },
        ]);
        expect((await readReceipt(store.db, id))?.status).toBe('ACCEPTED');
        expect(await replayOne(id)).toEqual({ queued: 0, notQueued: { done: 1, pending: 3 } });
        expect(await fixture.auditOf(`receipt/${id}`)).toEqual([
          entryFor(`receipt/${id}`, { queued: 2 }),
        ]);
      });

      test('of a receipt that does not exist is refused', async () => {
        await expect(replayOne('no-such-receipt')).rejects.toMatchObject({ code: 'not-found' });
      });

      test('of all takes what the filter finds', async () => {
        const ids: string[] = [];
        for (const [index, outcome] of (['FAILED', 'UNMATCHED', 'DONE'] as const).entries()) {
          const id = await idOf(receipt({ events: [event(outcome)], receivedAt: AT + index }));
          await fixture.settle(id, { outcome });
          ids.push(id);
        }
        expect(await replayThese({ outcome: 'DONE' })).toEqual({ queued: 0 });
        expect(await replayThese({ partnerId: 'crm-two' })).toEqual({ queued: 0 });
        expect(await replayThese({ outcome: 'FAILED', since: AT })).toEqual({
          queued: 1,
        });
        expect(await replayThese({})).toEqual({ queued: 1 });
        const statuses = await Promise.all(
          ids.map(async (id) => (await readReceipt(store.db, id))?.status),
        );
        expect(statuses).toEqual(['ACCEPTED', 'ACCEPTED', 'PROCESSED']);
        expect(await fixture.auditOf('receipts')).toEqual([
          entryFor('receipts', {
            filters: ['outcome', 'since'],
            outcome: 'FAILED',
            since: toRfc3339(AT),
            queued: 1,
          }),
          entryFor('receipts', { filters: [], queued: 1 }),
        ]);
      });

      test('by what an event says takes the receipts that the list shows, but for REJECTED', async () => {
        const found = await idOf(
          receipt({ events: [event('a', { eventId: 'e-1' }), event('b', { eventId: 'e-1' })] }),
        );
        await fixture.settle(found, { position: 0, outcome: 'UNMATCHED' });
        await fixture.settle(found, { position: 1, outcome: 'REJECTED' });
        const other = await idOf(receipt({ events: [event('c', { eventId: 'e-2' })] }));
        await fixture.settle(other, { outcome: 'FAILED', leadIds: ['24'] });
        expect((await preview({ leadId: 24 })).queued).toEqual({ FAILED: 1 });
        expect((await preview({ eventId: 'e-1' })).queued).toEqual({
          UNMATCHED: 1,
        });
        expect((await replayThese({ eventId: 'e-3' })).queued).toBe(0);
        expect((await replayThese({ eventId: 'e-1', outcome: 'UNMATCHED' })).queued).toBe(1);
        expect((await replayThese({ leadId: 24 })).queued).toBe(1);
        expect((await replayThese({ correlationId: 'c-1', status: 'ACCEPTED' })).queued).toBe(0);
        expect(await ids({ outcome: 'REJECTED' }, 9)).toEqual([found]);
      });

      test('is not possible any more once the payload was dropped', async () => {
        const id = await idOf(receipt({ events: [event('a'), event('b')] }));
        await fixture.settle(id, { position: 0, outcome: 'FAILED', at: AT + 50 });
        expect(await purgeReceipts(store.db, AT + 50)).toMatchObject({ payloads: 0 });
        expect(await purgeReceipts(store.db, AT + 51)).toMatchObject({ payloads: 1 });
        await fixture.settle(id, { position: 1, outcome: 'FAILED', at: AT + 60 });
        expect(await replayThese({ partnerId: 'crm-two' })).toEqual({ queued: 0 });
        const each = { queued: { FAILED: 1 }, notQueued: { FAILED: 1 } };
        expect(await preview({ status: 'FAILED' })).toEqual(each);
        expect(await preview({})).toEqual(each);
        expect(await preview({ partnerId: 'crm-two' })).toEqual({
          queued: {},
          notQueued: {},
        });
        expect(await replayThese({ status: 'FAILED' })).toEqual({
          queued: 1,
          notQueued: { payloadDropped: 1 },
        });
        expect(await preview({})).toEqual({ queued: {}, notQueued: { FAILED: 1 } });
        expect(await replayOne(id)).toEqual({
          queued: 0,
          notQueued: { pending: 1, payloadDropped: 1 },
        });
        expect((await readReceipt(store.db, id))?.events[0]?.outcome).toBe('FAILED');
      });
    });

    describe('an acknowledgement', () => {
      const actor = { kind: 'token', subject: 'ada' } as const;
      const acknowledge = (id: string, at: number) =>
        operatorsOf(store.db, at).acknowledge(id, { actor });

      test('is of what found nobody or could not be used, once, and is audited', async () => {
        const id = await idOf(
          receipt({
            events: [
              event('a'),
              event('b', { outcome: 'REJECTED' }),
              event('c', { outcome: 'IGNORED' }),
              event('d'),
            ],
          }),
        );
        await fixture.settle(id, { position: 0, outcome: 'UNMATCHED' });
        await fixture.settle(id, { position: 3, outcome: 'FAILED' });
        expect(await ids({ outcome: 'UNMATCHED', isAcknowledged: false }, 9)).toEqual([id]);
        expect(await acknowledge(id, AT + 5)).toBe(2);
        expect(await acknowledge(id, AT + 6)).toBe(0);
        expect(await fixture.auditOf(`receipt/${id}`)).toMatchObject([
          { changes: { acknowledged: 2 } },
        ]);
        const events = (await readReceipt(store.db, id))?.events ?? [];
        const at = AT + 5;
        expect(events.map((one) => one.acknowledgedAt)).toEqual([at, at, undefined, undefined]);
        expect(events[1]?.history).toEqual([{ at, what: 'acknowledged', by: 'ada' }]);
        expect(await ids({ outcome: 'UNMATCHED', isAcknowledged: false }, 9)).toEqual([]);
        expect(await ids({ outcome: 'UNMATCHED' }, 9)).toEqual([id]);
        const unknown = '00000000-0000-4000-8000-999999999999';
        await expect(acknowledge(unknown, AT)).rejects.toMatchObject({ code: 'not-found' });
      });

      test('ends when the event is worked again', async () => {
        const id = await idOf(receipt({ events: [event('a')] }));
        await fixture.settle(id, { outcome: 'UNMATCHED', at: AT + 1 });
        await acknowledge(id, AT + 2);
        await operatorsOf(store.db, AT + 3).replay(id, { actor });
        await fixture.settle(id, { outcome: 'UNMATCHED', at: AT + 4 });
        expect((await readReceipt(store.db, id))?.events[0]).not.toHaveProperty('acknowledgedAt');
        expect(await ids({ isAcknowledged: false, outcome: 'UNMATCHED' }, 9)).toEqual([id]);
      });
    });
  });
}

function event(name: string, facts: Partial<NewEvent> = {}): Omit<NewEvent, 'position'> {
  return {
    sameEventKey: Buffer.from(name.padEnd(32, '.')),
    idKeys: { id: Buffer.from(`id ${name}`), person: Buffer.from('somebody') },
    outcome: 'PENDING',
    names: [],
    payload: Buffer.from(`bytes of ${name}`),
    digest: Buffer.alloc(32),
    ...facts,
  };
}

function eventWithoutId(name: string): Omit<NewEvent, 'position'> {
  const { idKeys: _none, ...facts } = event(name);
  return facts;
}

function receipt(
  facts: Partial<Omit<NewReceipt, 'events'>> & { events: Omit<NewEvent, 'position'>[] },
): NewReceipt {
  serial += 1;
  return {
    id: `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`,
    partnerId: 'crm-one',
    path: 'deletions',
    eventType: 'lead.deletion',
    correlationId: `c-${serial}`,
    receivedAt: AT,
    createdBefore: AT,
    ...facts,
    events: facts.events.map((one, position) => ({ ...one, position })),
  };
}
