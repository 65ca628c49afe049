import { userInfo } from 'node:os';
import { beforeEach, describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { REFRESH_RECEIPT_STATUS } from '#partners/receipts/event-changes.ts';
import { UsageError } from '#cli/command.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import { DAY } from '#shared/clock.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { environmentOf, type Output, runCommand } from '../support/command.ts';
import { secretsOf } from '../support/partners.ts';
import { connectTo, temporaryDatabase } from '../support/stores.ts';
import { auditOf } from '../support/audit.ts';
import { openWorld } from '../support/world.ts';

let database: SqliteDatabase;
let clock: FakeClock;

beforeEach(() => {
  database = temporaryDatabase();
  clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'));
});

function receipt(args: string[]): Promise<Output> {
  return runCommand(['receipt', ...args], { clock, environment: environmentOf(database) });
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse((await receipt([...args, '--json'])).out) as T;
}

/** Accepts a deletion and gives back its receipt's id. */
async function accept(externalId: string, partnerId = 'crm-one'): Promise<string> {
  const settings = { scheme: 'hmac-sha256', secrets: secretsOf('s') } as const;
  const { deliver } = openWorld({ database, clock, partners: { [partnerId]: settings } });
  const { receipt } = await deliver(
    { eventType: 'lead.deletion', externalId },
    { from: partnerId },
  );
  return receipt.id;
}

async function settle(id: string, outcome: Outcome): Promise<void> {
  const { handle } = database;
  const number = handle.prepare('SELECT number FROM receipt WHERE id = ?').pluck().get(id);
  handle
    .prepare(
      `UPDATE event SET outcome = ?, completed_at = ?, due_at = NULL, attempts = 11,
       last_error = 'tracker-server', lead_ids = '["7","9"]' WHERE receipt = ?`,
    )
    .run(outcome, clock.now(), number);
  await connectTo(handle.name).run(REFRESH_RECEIPT_STATUS, { receipts: [number] });
}

type List = { items: { id: string }[]; pagination: { hasMore: boolean; nextCursor?: string } };
const idsOf = ({ items }: List) => items.map(({ id }) => id);

describe('receipt list', () => {
  test('shows what partners sent, newest first', async () => {
    const first = await accept('x-1');
    await clock.advance(DAY);
    const second = await accept('x-2', 'crm-two');
    expect((await receipt(['list'])).out).toBe(
      [
        'RECEIVED              ID                                    PARTNER  EVENT TYPE     EXTERNAL ID  STATUS    OUTCOMES',
        `2026-03-02T12:00:00Z  ${second}  crm-two  lead.deletion  x-2          ACCEPTED  1 PENDING`,
        `2026-03-01T12:00:00Z  ${first}  crm-one  lead.deletion  x-1          ACCEPTED  1 PENDING\n`,
      ].join('\n'),
    );
    expect(await json<List>('list', '--partner', 'crm-one')).toMatchObject({
      items: [
        {
          id: first,
          partnerId: 'crm-one',
          eventType: 'lead.deletion',
          externalId: 'x-1',
          status: 'ACCEPTED',
          receivedAt: '2026-03-01T12:00:00Z',
        },
      ],
      pagination: { hasMore: false },
    });
  });

  test('filters and pages', async () => {
    const first = await accept('x-1');
    await settle(first, 'FAILED');
    await clock.advance(DAY);
    const second = await accept('x-2');
    expect(idsOf(await json('list', '--status', 'failed'))).toEqual([first]);
    expect(idsOf(await json('list', '--outcome', 'PENDING'))).toEqual([second]);
    expect(idsOf(await json('list', '--since', '2026-03-02'))).toEqual([second]);
    expect(idsOf(await json('list', '--external-id', 'x-2'))).toEqual([second]);
    expect(idsOf(await json('list', '--lead-id', '#7'))).toEqual([first]);
    expect(idsOf(await json('list', '--event-id', 'e'))).toEqual([]);
    const [{ correlationId }] = (await json<{ items: [{ correlationId: string }] }>('list')).items;
    expect(idsOf(await json('list', '--correlation-id', correlationId))).toEqual([second]);
    const page = await json<List>('list', '--limit', '1');
    expect(idsOf(page)).toEqual([second]);
    const cursor = page.pagination.nextCursor ?? '';
    expect(idsOf(await json('list', '--limit', '5', '--cursor', cursor))).toEqual([first]);
    expect((await receipt(['list', '--limit', '1'])).notes).toContain(`--cursor ${cursor}`);
  });

  test('takes a value that begins with a dash, as cursors do now and then, for a value', async () => {
    const id = await accept('-Vx');
    expect(idsOf(await json('list', '--external-id', '-Vx'))).toEqual([id]);
    await expect(receipt(['list', '--cursor', '-Vx'])).rejects.toThrow(/cursor/);
  });

  test('says of an empty store what to do next, and of a filter that nothing is like that', async () => {
    expect((await receipt(['list'])).out).toContain('trackport sign --partner');
    for (const filter of ['--partner=crm', '--status=FAILED', '--since=2026-01-01'])
      expect((await receipt(['list', filter])).out).toBe('No receipt is like that.\n');
  });

  test.each([
    ['--status', 'OPEN'],
    ['--outcome', 'LOST'],
    ['--since', 'yesterday'],
    ['--limit', 'ten'],
    ['--lead-id', 'x-1'],
  ])('refuses %s %s', async (option, value) => {
    await expect(receipt(['list', option, value])).rejects.toBeInstanceOf(UsageError);
  });
});

describe('receipt show', () => {
  test('tells why an event was ignored, and which of a batch came before', async () => {
    const settings = {
      scheme: 'hmac-sha256',
      secrets: secretsOf('s'),
      deletions: { types: ['gone'] },
    } as const;
    const { deliver } = openWorld({ database, clock, partners: { 'crm-one': settings } });
    const send = async (body: unknown) => (await deliver(body, { from: 'crm-one' })).receipt.id;
    const first = await send({ eventType: 'gone', eventId: 'e', externalId: 'x' });
    const id = await send([
      { eventType: 'gone', eventId: 'e', externalId: 'x' },
      { eventType: 'other', externalId: 'y' },
    ]);
    const { out } = await receipt(['show', id]);
    expect(out).toMatch(/IGNORED .* type-not-listed /);
    expect(out).toContain(`Position 0 came before: see receipt ${first}.`);
    expect(await json('show', id)).toMatchObject({
      events: [{ outcome: 'IGNORED', lastError: 'type-not-listed' }],
      repeats: [{ position: 0, receiptId: first }],
    });
    const path = 'events';
    const event = { eventType: 'lead.won', externalId: 'x' };
    const { receipt: other } = await deliver(event, { from: 'crm-one', path });
    expect((await receipt(['show', other.id])).out).toMatch(/IGNORED .* no-rule /);
  });

  test('tells what became of each event', async () => {
    const id = await accept('x-1');
    await settle(id, 'FAILED');
    const { out } = await receipt(['show', id]);
    expect(out).toMatch(new RegExp(`^id +${id}\\npartner +crm-one\\n`));
    expect(out).toMatch(/FAILED +– +7 9 +11 +tracker-server +– +2026-03-01T12:00:00Z/);
    expect(await json('show', id)).toMatchObject({
      id,
      status: 'FAILED',
      events: [
        {
          eventType: 'lead.deletion',
          externalId: 'x-1',
          outcome: 'FAILED',
          leadIds: ['7', '9'],
          attempts: 11,
          lastError: 'tracker-server',
          completedAt: '2026-03-01T12:00:00Z',
        },
      ],
    });
  });

  test('of an unknown id fails', async () => {
    await expect(receipt(['show', 'nothing'])).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('receipt replay', () => {
  test('of one queues its dead letters and stands in the audit log', async () => {
    const id = await accept('x-1');
    await settle(id, 'FAILED');
    expect(await json('replay', id)).toEqual({ queued: 1 });
    expect(await json('show', id)).toMatchObject({ status: 'ACCEPTED' });
    expect(await auditOf(database, `receipt/${id}`)).toMatchObject([
      { actor: { subject: userInfo().username }, action: 'receipt.replay', changes: { queued: 1 } },
    ]);
  });

  test('of one that needs none says why it does nothing', async () => {
    const id = await accept('x-1');
    await settle(id, 'IGNORED');
    expect((await receipt(['replay', id])).out).toBe('Nothing was queued: 1 is ignored.\n');
  });

  test('of one whose payload is gone says who can help', async () => {
    const id = await accept('x-1');
    await settle(id, 'FAILED');
    database.handle.prepare('UPDATE event SET payload = NULL').run();
    expect((await receipt(['replay', id])).out).toMatch(
      /1 is past replay: .* has to send again\.\n$/,
    );
    expect(await json('replay', id)).toEqual({ queued: 0, notQueued: { payloadDropped: 1 } });
    await settle(await accept('x-2'), 'FAILED');
    expect((await receipt(['replay', '--all'])).out).toMatch(
      /^1 event waits for the worker\. Of the others 1 is past replay: /,
    );
  });

  test('of a filter, or of all, queues what it finds', async () => {
    for (const [name, outcome] of [
      ['a', 'FAILED'],
      ['b', 'UNMATCHED'],
      ['c', 'DONE'],
    ] as const)
      await settle(await accept(name), outcome);
    expect((await receipt(['replay', '--outcome', 'FAILED'])).out).toBe(
      '1 event waits for the worker.\n',
    );
    expect(await json('replay', '--all')).toEqual({ queued: 1 });
  });

  test.each([[[]], [['some-id', '--all']], [['some-id', '--partner', 'crm-one']]])(
    'refuses %j: exactly one way to say what',
    async (args) => {
      await expect(receipt(['replay', ...args])).rejects.toBeInstanceOf(UsageError);
    },
  );
});
