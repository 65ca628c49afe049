import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { eventErrors, type ReceiptSummary } from '#partners/receipts/receipt.ts';
import { createReceiptPurger } from '#partners/receipts/purge-receipts.ts';
import { createReceipts } from '#partners/receipts/receipts.ts';
import { toReceiptDetailOut } from '#partners/receipts/receipt-out.ts';
import type {
  ReceiptFilter,
  ReceiptStore,
  ReplayResult,
} from '#partners/receipts/receipt-store.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock } from '../../support/clock.ts';

const cursors = createCursorSealer(Buffer.alloc(32, 9));
const receipt = (id: string): ReceiptSummary => ({
  id,
  partnerId: 'crm-one',
  eventType: 'lead.deletion',
  correlationId: 'c',
  status: 'PROCESSED',
  receivedAt: 0,
  path: 'deletions',
  outcomes: { DONE: 1 },
});

/** On a store that can do only what a test gives. */
const receiptsOn = (given: Partial<ReceiptStore>, wakeWorker = (): void => undefined) =>
  createReceipts({ store: given as ReceiptStore, cursors, clock: { now: () => 5 }, wakeWorker });

/** Five receipts, in pages. */
const fiveReceipts = receiptsOn({
  list: async (_filter: ReceiptFilter, limit: number, after = 6) => {
    const receipts = [5, 4, 3, 2, 1].filter((number) => number < after).slice(0, limit);
    const last = receipts.at(-1) ?? 1;
    const found = receipts.map((number) => receipt(String(number)));
    return last > 1 ? { receipts: found, next: last } : { receipts: found };
  },
});

describe('listing receipts', () => {
  test('refuses a cursor of other filters, an altered one, and one of another list', async () => {
    const { pagination } = await fiveReceipts.list({ filter: {}, limit: 2 });
    const cursor = pagination.nextCursor ?? '';
    const other = cursors.seal('leads/1', '[null,null,null,null]', 3);
    const reads = [
      { filter: { partnerId: 'crm-one' }, limit: 2, cursor },
      { filter: {}, limit: 2, cursor: `${cursor.slice(0, -1)}x` },
      { filter: {}, limit: 2, cursor: other },
    ];
    for (const read of reads)
      await expect(fiveReceipts.list(read)).rejects.toMatchObject({
        code: 'invalid-cursor',
      });
  });
});

describe('reading a receipt', () => {
  test('shows times as text and leaves out what is not there', () => {
    const ids = { names: ['email' as const], leadIds: ['7'] };
    const step = { at: 500, what: 'failed', code: 'locked' } as const;
    const event = {
      outcome: 'DONE' as const,
      ...ids,
      attempts: 2,
      completedAt: 1000,
      history: [step],
    };
    const { outcomes: _counts, path, ...shown } = receipt('1');
    const events = [{ ...event, position: 0, dueAt: 5, isReplayable: false, isProvisional: false }];
    expect(toReceiptDetailOut({ ...shown, path, events })).toEqual({
      ...shown,
      receivedAt: '1970-01-01T00:00:00Z',
      events: [
        {
          ...event,
          completedAt: '1970-01-01T00:00:01Z',
          history: [{ ...step, at: '1970-01-01T00:00:00.500Z' }],
        },
      ],
    });
  });
});

describe('a replay', () => {
  const origin = { actor: { kind: 'cli', subject: 'ada' }, requestId: 'r' } as const;
  const answering = (result: ReplayResult | undefined) => {
    const seen: unknown[] = [];
    const replaying = {
      replay: async (...args: unknown[]) => (seen.push(args), result),
      replayAll: async (...args: unknown[]) => (seen.push(args), result ?? { queued: 0, left: {} }),
    };
    return { seen, receipts: receiptsOn(replaying, () => void seen.push('woken')) };
  };

  test('wakes the worker when something waits, and says who asked', async () => {
    const { receipts, seen } = answering({ queued: 2, left: {} });
    expect(await receipts.replay('1', origin)).toEqual({ queued: 2 });
    const entry = { ...origin, at: 5, action: 'receipt.replay', subject: 'receipt/1' };
    expect(seen).toEqual([['1', entry], 'woken']);
  });

  test('tells why events are not queued, and lets the worker sleep when none is', async () => {
    const left = { PENDING: 1, DONE: 2, IGNORED: 3, REJECTED: 4, UNMATCHED: 5, FAILED: 6 };
    const { receipts, seen } = answering({ queued: 0, left });
    expect(await receipts.replay('1', origin)).toEqual({
      queued: 0,
      notQueued: { pending: 1, done: 2, ignored: 3, rejected: 4, payloadDropped: 11 },
    });
    expect(seen).not.toContain('woken');
  });

  test('of a filter asks for what it finds, in the name of who asks', async () => {
    const { receipts, seen } = answering({ queued: 0, left: {} });
    const filter = { outcome: 'FAILED' } as const;
    expect(await receipts.replayAll(filter, origin)).toEqual({ queued: 0 });
    const entry = { ...origin, at: 5, action: 'receipt.replay', subject: 'receipts' };
    const changes = { filters: ['outcome'], outcome: 'FAILED' };
    expect(seen).toEqual([[filter, { ...entry, changes }]]);
  });
});

describe('purging', () => {
  test('forgets what is 30 days old, at once and every hour, and survives a failing store', async () => {
    const clock = createFakeClock(100 * DAY);
    const asked: number[] = [];
    const failing = {
      purge: async (before: number) => {
        asked.push(before);
        if (asked.length === 1) throw new Error('busy');
        return { keys: 1, payloads: 0 };
      },
    };
    const purger = createReceiptPurger({ store: failing, clock, log: silentLog });
    purger.start();
    await clock.advance(0);
    expect(asked).toEqual([70 * DAY]);
    await clock.advance(HOUR - 1);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    expect(asked).toEqual([70 * DAY, 70 * DAY + HOUR]);
    await purger.stop();
    await clock.advance(HOUR);
    expect(asked).toHaveLength(2);
  });
});

test('the documents list every reason why an event ended, in the same words', async () => {
  const file = await readFile(new URL('../../../docs/partners.md', import.meta.url), 'utf8');
  const text = file.replaceAll(/ +/g, ' ');
  for (const [code, meaning] of Object.entries(eventErrors))
    expect(text).toContain(`| \`${code}\` | ${meaning} |`);
});
