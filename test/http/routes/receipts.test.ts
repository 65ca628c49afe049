import { describe, expect, test } from 'vitest';
import type { NewReceipt } from '#partners/intake/accept-delivery.ts';
import type { Settlement } from '#partners/worker/settle-event.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { newUuid } from '#shared/ids.ts';
import { openWorld, type World } from '../../support/world.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';
import { readWorkCounts } from '#partners/worker/worker.ts';
import { settleEvent } from '../../support/partners.ts';

type ReceiptFields = { partnerId?: string; externalId?: string; end?: Settlement };

const failed: Settlement = { outcome: 'FAILED', lastError: 'tracker-server', attempts: 11 };
const done: Settlement = { outcome: 'DONE', erasure: 'incomplete-history', attempts: 2 };

/** Accepts a delivery of one event now, and ends it where the facts say how. */
async function receive(
  { receipts, work, clock }: World,
  { partnerId = 'crm-one', externalId = 'x-1', end }: ReceiptFields = {},
): Promise<string> {
  const id = newUuid();
  const receipt: NewReceipt = {
    id,
    partnerId,
    path: 'deletions',
    eventType: 'lead.deletion',
    externalId,
    correlationId: `correlation-${externalId}`,
    receivedAt: clock.now(),
    createdBefore: clock.now(),
    events: [
      {
        position: 0,
        eventId: 'event-1',
        externalId,
        sameEventKey: sha256(id),
        outcome: 'PENDING',
        names: [],
        payload: Buffer.from('{}'),
        digest: Buffer.alloc(32),
      },
    ],
  };
  await receipts.accept(receipt);
  if (end) {
    const [item] = await leaseEvents(work, 'match', { now: clock.now(), limit: 1 });
    if (!item || item.receiptId !== id) throw new Error('another event was due');
    await settleEvent(work, item, end, clock.now());
  }
  return id;
}

const idsOf = (body: { items: { id: string }[] }): string[] => body.items.map(({ id }) => id);

describe('GET /receipts', () => {
  test('lists newest first, and nothing but what a receipt is', async () => {
    const server = openWorld();
    const first = await receive(server, { end: done });
    await server.clock.advance(1000);
    const second = await receive(server, { partnerId: 'crm-two' });
    const reply = await server.call('GET', '/receipts');
    expect(reply.status).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.body).toEqual({
      items: [
        {
          id: second,
          partnerId: 'crm-two',
          eventType: 'lead.deletion',
          externalId: 'x-1',
          correlationId: 'correlation-x-1',
          status: 'ACCEPTED',
          receivedAt: '2026-03-01T12:00:01Z',
          outcomes: { PENDING: 1 },
        },
        expect.objectContaining({ id: first, status: 'PROCESSED', outcomes: { DONE: 1 } }),
      ],
      pagination: { hasMore: false },
    });
  });

  test('filters by all that a query can name, with or without a # before a lead id', async () => {
    const server = openWorld();
    const dead = await receive(server, { end: failed });
    await server.clock.advance(1000);
    const open = await receive(server, { externalId: 'x-2', partnerId: 'crm-two' });
    server.database.handle
      .prepare(`UPDATE event SET lead_ids = '["24"]' WHERE external_id = 'x-2'`)
      .run();
    const find = async (query: string) =>
      idsOf((await server.call('GET', `/receipts?${query}`)).body);
    expect(await find('partnerId=crm-one&status=FAILED&outcome=FAILED')).toEqual([dead]);
    expect(await find('since=2026-03-01T13:00:01%2B01:00&externalId=x-2')).toEqual([open]);
    expect(await find('correlationId=correlation-x-2&leadId=24')).toEqual([open]);
    expect(await find('eventId=event-1&leadId=%2324')).toEqual([open]);
    expect(await find('eventId=event-1&leadId=25')).toEqual([]);
  });

  test.each([
    ['status=accepted', 'status'],
    ['since=yesterday', 'since'],
    ['partner=crm-one', 'partner'],
    ['leadId=x-1', 'leadId'],
    [`eventId=${'x'.repeat(256)}`, 'eventId'],
  ])('refuses ?%s', async (query, parameter) => {
    const { call } = openWorld();
    const { status, body } = await call('GET', `/receipts?${query}`);
    expect([status, body.code]).toEqual([400, 'validation-failed']);
    expect(body.errors).toMatchObject([{ parameter }]);
  });
});

describe('GET /receipts/{id}', () => {
  test('shows what became of each event', async () => {
    const server = openWorld();
    const id = await receive(server, { end: failed });
    const { status, body } = await server.call('GET', `/receipts/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'FAILED' });
    expect(body.events).toEqual([
      {
        eventId: 'event-1',
        externalId: 'x-1',
        outcome: 'FAILED',
        names: [],
        history: [],
        leadIds: [],
        attempts: 11,
        lastError: 'tracker-server',
        completedAt: '2026-03-01T12:00:00Z',
      },
    ]);
  });

  test.each(['replay', '0b9f6a52-7f7e-4f0c-8f36-5d0f6c1a2b3c'])('%s is 404', async (id) => {
    const { call } = openWorld();
    const { status, body } = await call('GET', `/receipts/${id}`);
    expect([status, body.code]).toEqual([404, 'not-found']);
  });
});

describe('replays', () => {
  test('have the dead letters of one receipt worked again', async () => {
    const server = openWorld();
    const id = await receive(server, { end: failed });
    const reply = await server.call('POST', `/receipts/${id}/replay`);
    expect([reply.status, reply.body]).toEqual([202, { queued: 1 }]);
    expect(await readWorkCounts(server.work.db)).toMatchObject({ open: 1 });
    const { body } = await server.call('GET', `/receipts/${id}`);
    expect(body).toMatchObject({ status: 'ACCEPTED', events: [{ outcome: 'PENDING' }] });
    expect(await server.auditOf(`receipt/${id}`)).toMatchObject([
      {
        action: 'receipt.replay',
        actor: { kind: 'token', subject: 'operator-1', clientId: 'console' },
        requestId: reply.headers['x-request-id'],
      },
    ]);
  });

  test('of a filter reach what the list shows, and no more', async () => {
    const server = openWorld();
    const mine = await receive(server, { end: failed });
    const other = await receive(server, { partnerId: 'crm-two', end: failed });
    const reply = await server.call('POST', '/receipts/replay?partnerId=crm-one&status=FAILED');
    expect([reply.status, reply.body]).toEqual([202, { queued: 1 }]);
    const statuses = await Promise.all(
      [mine, other].map(async (id) => (await server.call('GET', `/receipts/${id}`)).body.status),
    );
    expect(statuses).toEqual(['ACCEPTED', 'FAILED']);
    expect(await server.auditOf('receipts')).toMatchObject([
      { changes: { partnerId: 'crm-one', status: 'FAILED' } },
    ]);
    expect((await server.call('POST', '/receipts/replay')).body).toEqual({ queued: 1 });
  });

  test.each(['cursor=x', 'Status=FAILED'])(
    'refuse ?%s rather than replay more than was meant',
    async (query) => {
      const server = openWorld();
      await receive(server, { end: failed });
      const reply = await server.call('POST', `/receipts/replay?${query}`);
      expect([reply.status, reply.body.code]).toEqual([400, 'validation-failed']);
      expect(await readWorkCounts(server.work.db)).toMatchObject({ open: 0 });
    },
  );
});
