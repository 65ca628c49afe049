import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { eventReasons } from '#shared/outcomes/events.ts';
import type { ReceiptSummary } from '#partners/receipts/receipt.ts';
import { createTrackerClock } from '#adapters/github/tracker-clock.ts';
import { createReceiptPurger } from '#partners/receipts/purge-receipts.ts';
import { createReceipts } from '#partners/receipts/receipts.ts';
import { toReceiptDetailOut } from '#partners/receipts/receipt-out.ts';
import { newUuid } from '#shared/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { acceptEvent } from '../../support/partners.ts';
import { openReceiptFixture } from '../../contract/receipt-fixture.ts';
import { bytesInFiles, temporaryDatabase, withCommits } from '../../support/stores.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openTracker } from '../../support/deletions/tracker.ts';
import { openDeletions } from '../../support/deletions/world.ts';
import { keyOf } from '../../support/keys.ts';

const cursors = createCursorSealer(keyOf(9));
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

function setUp(wakeWorker = (): void => undefined) {
  const database = temporaryDatabase();
  const fixture = openReceiptFixture(database);
  const receipts = createReceipts({ db: database, cursors, clock: { now: () => 5 }, wakeWorker });
  let keys = 0;
  const accept = (outcome: 'PENDING' | 'IGNORED' | 'REJECTED' = 'PENDING') =>
    acceptEvent(fixture.store, { at: 1, outcome, sameEventKey: Buffer.from(`${(keys += 1)}`) });
  return { database, fixture, receipts, accept };
}

describe('listing receipts', () => {
  test('refuses a cursor of other filters, an altered one, and one of another list', async () => {
    const { receipts: fiveReceipts, accept } = setUp();
    for (let n = 0; n < 5; n += 1) await accept();
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

  test('wakes the worker when something waits, and says who asked', async () => {
    let woken = 0;
    const { receipts, fixture, accept } = setUp(() => void (woken += 1));
    const id = await accept();
    await fixture.settle(id, { outcome: 'FAILED' });
    expect(await receipts.replay(id, origin)).toEqual({ queued: 1 });
    expect(woken).toBe(1);
    const entry = { ...origin, at: 5, action: 'receipt.replay', subject: `receipt/${id}` };
    expect(await fixture.auditOf(entry.subject)).toEqual([{ ...entry, changes: { queued: 1 } }]);
  });

  test('tells why events are not queued, and lets the worker sleep when none is', async () => {
    let woken = 0;
    const { receipts, fixture, database } = setUp(() => void (woken += 1));
    const outcomes = ['PENDING', 'DONE', 'IGNORED', 'REJECTED', 'UNMATCHED', 'FAILED'] as const;
    const events = outcomes.flatMap((outcome, n) => Array.from({ length: n + 1 }, () => outcome));
    const { receipt: accepted } = await fixture.store.accept({
      id: newUuid(),
      partnerId: 'crm-one',
      path: 'deletions',
      eventType: 'batch',
      correlationId: 'c',
      receivedAt: 1,
      createdBefore: 1,
      events: events.map((_outcome, position) => ({
        position,
        outcome: 'PENDING',
        sameEventKey: Buffer.from(`${position}`),
        names: [],
        payload: Buffer.from('{}'),
        digest: Buffer.alloc(32),
      })),
    });
    for (const [position, outcome] of events.entries())
      if (outcome !== 'PENDING') await fixture.settle(accepted.id, { position, outcome });
    await database.exec('UPDATE event SET payload = NULL');
    expect(await receipts.replay(accepted.id, origin)).toEqual({
      queued: 0,
      notQueued: { pending: 1, done: 2, ignored: 3, rejected: 4, payloadDropped: 11 },
    });
    expect(woken).toBe(0);
  });

  test('of a filter queues what it finds, in the name of who asks', async () => {
    const { receipts, fixture, accept } = setUp();
    for (const outcome of ['FAILED', 'FAILED', 'UNMATCHED'] as const)
      await fixture.settle(await accept(), { outcome });
    expect(await receipts.replayAll({ outcome: 'FAILED' }, origin)).toEqual({ queued: 2 });
    const entry = { ...origin, at: 5, action: 'receipt.replay', subject: 'receipts' };
    const changes = { filters: ['outcome'], outcome: 'FAILED', queued: 2 };
    expect(await fixture.auditOf('receipts')).toEqual([{ ...entry, changes }]);
  });

  test('of no such receipt says so', async () => {
    const { receipts } = setUp();
    await expect(receipts.replay(newUuid(), origin)).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('purging', () => {
  test('forgets what is 30 days old, at once and every hour, and survives a failing store', async () => {
    const clock = createFakeClock(100 * DAY);
    const { database, fixture } = setUp();
    const idKeyCount = async (): Promise<number> =>
      (await database.all('SELECT 1 FROM same_event')).length;
    for (const at of [70 * DAY - 1, 70 * DAY + HOUR - 1, 70 * DAY + 2 * HOUR])
      await acceptEvent(fixture.store, { at, sameEventKey: Buffer.from(`${at}`) });
    let tries = 0;
    const failsOnce = withCommits(database, async (commit) => {
      tries += 1;
      if (tries === 1) throw new Error('busy');
      return commit();
    });
    const purger = createReceiptPurger({
      db: failsOnce,
      earliestNow: () => clock.now(),
      onDropped: () => undefined,
      clock,
      log: silentLog,
    });
    purger.start();
    await clock.advance(0);
    expect(await idKeyCount()).toBe(3);
    await clock.advance(HOUR - MINUTE);
    expect(tries).toBe(1);
    await clock.advance(MINUTE);
    await purger.stop();
    expect(await idKeyCount()).toBe(1);
    const before = tries;
    await clock.advance(HOUR);
    expect(tries).toBe(before);
  });

  test('waits until the tracker has told its time', async () => {
    const clock = createFakeClock(100 * DAY);
    const { database, fixture } = setUp();
    const tracker = createTrackerClock(clock, silentLog);
    await acceptEvent(fixture.store, { at: 60 * DAY, sameEventKey: Buffer.from('old') });
    await acceptEvent(fixture.store, { at: 99 * DAY, sameEventKey: Buffer.from('new') });
    const purger = createReceiptPurger({
      db: database,
      earliestNow: () => tracker.earliestNow(),
      onDropped: () => undefined,
      clock,
      log: silentLog,
    });
    const keyCount = async (): Promise<number> =>
      (await database.all('SELECT 1 FROM same_event')).length;
    clock.set(clock.now() + 365 * DAY);
    purger.start();
    await clock.advance(0);
    await clock.advance(MINUTE);
    expect(await keyCount()).toBe(2);
    tracker.note({ dateMs: 100 * DAY, durationMs: 0 });
    await clock.advance(MINUTE);
    await purger.stop();
    expect(await keyCount()).toBe(1);
  });
});

test('what was purged is soon in no file of the store', async () => {
  const clock = createFakeClock(100 * DAY);
  const { database, fixture, accept } = setUp();
  const { start } = await openDeletions({ clock, of: { tracker: await openTracker(), database } });
  const payload = 'sealed-data-of-a-person';
  await start();
  await clock.advance(MINUTE);
  await fixture.settle(await accept(), { outcome: 'FAILED' });
  await database.run('UPDATE event SET completed_at = 1, payload = @payload', {
    payload: Buffer.from(payload),
  });
  expect(bytesInFiles(database)).toContain(payload);
  await clock.advance(HOUR);
  await eventually(async () => {
    await clock.advance(SECOND);
    expect(bytesInFiles(database)).not.toContain(payload);
  });
});

test('the documents list every reason why an event ended, in the same words', async () => {
  const file = await readFile(new URL('../../../docs/partners.md', import.meta.url), 'utf8');
  const text = file.replaceAll(/ +/g, ' ');
  for (const [code, { meaning }] of Object.entries(eventReasons))
    expect(text).toContain(`| \`${code}\` | ${meaning} |`);
});
