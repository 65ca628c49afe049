import { describe, expect, test } from 'vitest';
import type { Settlement } from '#partners/worker/settle-event.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { buildPartnerServer, PARTNER_URL, signedHeaders } from '../../partners/support.ts';
import { type World } from '../../support/world.ts';
import { settleEvent } from '../../support/partners.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';

const PATH = '/api/v1/webhooks/partners/crm-one/deletions';

async function deliver({ app }: World, body: unknown) {
  const payload = JSON.stringify(body);
  const headers = signedHeaders('crm-one', { body: payload });
  const reply = await app.inject({ method: 'POST', url: PATH, headers, payload });
  expect(reply.statusCode).toBe(202);
  const location = String(reply.headers['location']);
  expect(location).toMatch(new RegExp(`^${PARTNER_URL}/api/v1/receipt-status/[A-Za-z0-9_-]+$`));
  return { id: reply.json<{ id: string }>().id, location };
}

async function read({ app }: World, location: string, headers = {}) {
  const reply = await app.inject({ url: location.slice(PARTNER_URL.length), headers });
  const body: unknown = reply.body === '' ? undefined : reply.json();
  return { status: reply.statusCode, headers: reply.headers, body };
}

/** Ends the next event that is due, as the worker would. */
async function settle({ work, clock }: World, end: Settlement): Promise<void> {
  const [item] = await leaseEvents(work, 'match', { now: clock.now(), limit: 1 });
  if (!item) throw new Error('nothing is due');
  await settleEvent(work, item, end, clock.now());
}

describe('a status address', () => {
  test('shows from the first moment on what became of each event', async () => {
    const server = buildPartnerServer();
    const { id, location } = await deliver(server, [
      { eventId: 'e-1', eventType: 'gone', leadId: '24' },
      'nonsense',
    ]);
    const first = await read(server, location);
    expect(first).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'private, no-cache', 'retry-after': '1' },
      body: {
        id,
        status: 'ACCEPTED',
        events: [
          { position: 0, eventType: 'gone', eventId: 'e-1', outcome: 'PENDING' },
          { position: 1, outcome: 'REJECTED', completedAt: expect.any(String) },
        ],
      },
    });
    await settle(server, { outcome: 'DONE', erasure: 'complete', attempts: 1 });
    const second = await read(server, location);
    expect(second.headers).not.toHaveProperty('retry-after');
    expect(second.body).toEqual({
      id,
      status: 'UNMATCHED',
      events: [
        {
          position: 0,
          eventType: 'gone',
          eventId: 'e-1',
          outcome: 'DONE',
          erasure: 'complete',
          completedAt: '2026-09-21T14:13:22Z',
        },
        {
          position: 1,
          outcome: 'REJECTED',
          lastError: 'not-an-object',
          completedAt: '2026-09-21T14:13:22Z',
        },
      ],
    });
  });

  test('tells which events of a batch came before, and where they are', async () => {
    const server = buildPartnerServer();
    const first = await deliver(server, { eventId: 'e-1', leadId: '24' });
    const [old, fresh] = [
      { eventId: 'e-1', leadId: '24' },
      { eventId: 'e-2', leadId: '25' },
    ];
    const { id, location } = await deliver(server, [fresh, old, fresh]);
    expect((await read(server, location)).body).toEqual({
      id,
      status: 'ACCEPTED',
      events: [{ position: 0, eventId: 'e-2', outcome: 'PENDING' }],
      repeats: [
        { position: 1, receiptId: first.id },
        { position: 2, receiptId: id },
      ],
    });
    expect((await read(server, first.location)).body).not.toHaveProperty('repeats');
  });

  test('shows nothing of the person, and no issue number', async () => {
    const server = buildPartnerServer();
    const { location } = await deliver(server, {
      eventId: 'ada@example.com',
      externalId: 'x-4711',
      email: 'ada@example.com',
      correlationId: 'c-4711',
      leadId: '4711',
    });
    const { body } = await read(server, location);
    // The receipt's own id is by chance: it may hold these letters.
    expect(JSON.stringify({ ...Object(body), id: '' })).not.toMatch(/4711|ada|example/);
  });

  test('is the same for a repeat, and another for another delivery', async () => {
    const server = buildPartnerServer();
    const event = { eventId: 'e-1', leadId: '24' };
    const { location } = await deliver(server, event);
    await server.clock.advance(MINUTE);
    expect((await deliver(server, event)).location).toBe(location);
    expect((await deliver(server, { ...event, leadId: '25' })).location).not.toBe(location);
  });

  test('is there for an empty batch', async () => {
    const server = buildPartnerServer();
    const { id, location } = await deliver(server, []);
    const { body, headers } = await read(server, location);
    expect(body).toEqual({ id, status: 'PROCESSED', events: [] });
    expect(headers).not.toHaveProperty('retry-after');
  });

  test('responds with 304 until something changes', async () => {
    const server = buildPartnerServer();
    const { location } = await deliver(server, { leadId: '24' });
    const { headers } = await read(server, location);
    const condition = { 'if-none-match': String(headers['etag']) };
    const same = await read(server, location, condition);
    expect(same).toMatchObject({ status: 304, body: undefined });
    expect(same.headers).toMatchObject({ etag: headers['etag'], 'retry-after': '1' });
    await settle(server, { outcome: 'FAILED', lastError: 'tracker-server', attempts: 11 });
    const changed = await read(server, location, condition);
    expect(changed).toMatchObject({ status: 200, body: { status: 'FAILED' } });
  });

  test('says when it makes sense to ask again', async () => {
    const server = buildPartnerServer();
    const { location } = await deliver(server, { leadId: '24' });
    const waits: [number, string][] = [
      [10 * MINUTE, '601'],
      [DAY, '3600'],
      [-MINUTE, '1'],
    ];
    for (const [ms, seconds] of waits) {
      server.database.handle.prepare('UPDATE event SET due_at = ?').run(server.clock.now() + ms);
      expect((await read(server, location)).headers['retry-after']).toBe(seconds);
    }
  });
});

describe('what is no status address', () => {
  test('gets one and the same 404, and no look into the store', async () => {
    const database = temporaryDatabase();
    const lookUps: unknown[] = [];
    const get: Database['get'] = (sql, values) => {
      if (sql.includes('FROM receipt WHERE id')) lookUps.push(values?.['id']);
      return database.get(sql, values);
    };
    const server = buildPartnerServer({ database: { ...database, get } });
    const { location } = await deliver(server, { leadId: '24' });
    const base = location.slice(0, location.lastIndexOf('/') + 1);
    const token = location.slice(base.length);
    const others = [
      `${token}A`,
      token.slice(1),
      token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      'x',
      '0190a3b2-0000-7000-8000-000000000001',
      'x'.repeat(500),
      '%00',
      'a%2Fb',
    ];
    const replies = await Promise.all(others.map((other) => read(server, `${base}${other}`)));
    for (const { status, body } of replies) {
      expect(status).toBe(404);
      expect(body).toEqual({
        ...(replies[0]?.body as object),
        instance: expect.any(String),
      });
    }
    expect(lookUps).toEqual([]);
    await server.clock.advance(31 * DAY);
    const expired = await read(server, location);
    expect(expired.body).toMatchObject({ code: 'not-found' });
    expect(expired.body).toEqual({
      ...(replies[0]?.body as object),
      instance: expect.any(String),
    });
    expect(lookUps).toEqual([]);
  });

  test('takes no query and no other method', async () => {
    const server = buildPartnerServer();
    const { location } = await deliver(server, { leadId: '24' });
    expect((await read(server, `${location}?verbose=1`)).status).toBe(400);
    const path = location.slice(PARTNER_URL.length);
    const reply = await server.app.inject({ method: 'DELETE', url: path });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, 'GET, HEAD']);
  });
});
