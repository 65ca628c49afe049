/** One event that nothing can be done with must not stop the others, nor be lost. */
import { describe, expect, test } from 'vitest';
import { createReceiptStore } from '#adapters/sqlite/receipt/receipt-store.ts';
import { createWorkStore } from '#adapters/sqlite/work/work-store.ts';
import { actOnEvent } from '#partners/deletions/act-on-event.ts';
import type { ActDeps } from '#partners/deletions/act-on-event.ts';
import type { ActProgress } from '#partners/deletions/deletion-progress.ts';
import type { IssueEditor } from '#partners/deletions/issue-editor.ts';
import { matchEvents } from '#partners/deletions/match-event.ts';
import type { MatchDeps } from '#partners/deletions/match-event.ts';
import { createPacer } from '#partners/worker/pacer.ts';
import { createPartner, createPartnerList } from '#partners/partner.ts';
import { createPayloadSealer } from '#partners/receipts/payload.ts';
import { createOutcomeReporter } from '#partners/receipts/report-outcomes.ts';
import type { WorkItem } from '#partners/worker/work-store.ts';
import { createWriteRefusals } from '#partners/deletions/write-refusals.ts';
import { readDelivery } from '#partners/intake/read-delivery.ts';
import { TrackportError } from '#shared/errors.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { createFakeClock } from '../../support/clock.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';
import { directoryKey, entry, openedDirectory, REPOSITORY } from '../../support/directory.ts';
import { acceptEvent } from '../../support/partners.ts';
import { temporaryDatabase, withCommits } from '../../support/stores.ts';

const payloadKey = Buffer.alloc(32, 1);
const sealer = createPayloadSealer(payloadKey);
const secrets = [{ value: new Secret('s') }];
const partner = createPartner('crm-one', { scheme: 'hmac-sha256', secrets });

async function setUp() {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const directory = await openedDirectory(database);
  await directory.put([1, 2, 3].map((number) => entry(number)));
  const receipts = createReceiptStore({ database, payloadKey, repository: REPOSITORY });
  const store = createWorkStore({ database, sealer, newId: newUuid, repository: REPOSITORY });
  const lease = (stage: 'match' | 'act') => store.lease(stage, clock.now(), 10);
  return {
    clock,
    database,
    directory,
    store,
    lease,
    accept: (leadId: number) =>
      acceptEvent(receipts, {
        at: clock.now(),
        sameEventKey: Buffer.from(`lead ${leadId}`),
        payload: Buffer.from(JSON.stringify({ leadId: String(leadId) })),
      }),
    replay: (id: string) =>
      receipts.replay(id, {
        at: clock.now(),
        actor: { kind: 'cli', subject: 'ops' },
        action: 'receipt.replay',
        subject: `receipt/${id}`,
      }),
    eventOf: async (id: string) => (await receipts.read(id))?.events[0],
  };
}

type Desk = Awaited<ReturnType<typeof setUp>>;

/** Leases one event for its actions, with lead 1 claimed. */
async function leaseForActions(desk: Desk): Promise<WorkItem<ActProgress>> {
  const [matched] = await desk.lease('match');
  if (!matched) throw new Error('nothing is due');
  const next = { actions: ['close' as const], now: desk.clock.now() };
  await desk.store.confirm(matched, { leads: [1], conflicts: [] }, next);
  const [item] = await desk.lease('act');
  return item as WorkItem<ActProgress>;
}

const actDepsOf = (desk: Desk, editor: Partial<IssueEditor>): ActDeps => ({
  store: desk.store,
  editor: editor as IssueEditor,
  rules: () => ({ labels: { approved: 'approved', deleted: 'deleted' }, retryMs: [1000] }),
  isListed: async () => false,
  missingLooksMs: [],
  pacer: createPacer(desk.clock, 0),
  refusals: createWriteRefusals(),
  probeEveryMs: 1000,
  clock: desk.clock,
  log: silentLog,
  reporter: reporterOf(silentLog),
  random: () => 0.5,
});

const reporterOf = (log: Log) => createOutcomeReporter({ log, count: () => undefined });

const never = new AbortController().signal;

const matchDepsOf = (desk: Desk, deps: Partial<MatchDeps> = {}): MatchDeps => ({
  store: desk.store,
  directory: {
    cover: async () => ({ until: desk.clock.now(), complete: true, since: -Infinity }),
    retryAt: () => 0,
  },
  filler: { learn: async () => 'absent' },
  directoryKey,
  readDelivery,
  partners: createPartnerList([partner]),
  clock: desk.clock,
  log: silentLog,
  reporter: reporterOf(silentLog),
  unmatchedWaitsMs: [],
  lateLooksMs: [],
  ...deps,
});

describe('a partner that is', () => {
  test('disabled: what was accepted before is finished', async () => {
    const desk = await setUp();
    const id = await desk.accept(1);
    const disabled = { scheme: 'hmac-sha256', secrets, enabled: false } as const;
    const partners = createPartnerList([createPartner('crm-one', disabled)]);
    await matchEvents(matchDepsOf(desk, { partners }), await desk.lease('match'));
    expect((await desk.eventOf(id))?.leadIds).toEqual(['1']);
  });

  test('taken out of the file: it waits for a person, with its payload', async () => {
    const desk = await setUp();
    const id = await desk.accept(1);
    const lines: unknown[] = [];
    const log: Log = { ...silentLog, warn: (fields, msg) => void lines.push({ ...fields, msg }) };
    const gone = matchDepsOf(desk, { partners: createPartnerList([]), reporter: reporterOf(log) });
    await matchEvents(gone, await desk.lease('match'));
    expect(lines).toEqual([
      {
        msg: 'dead letter',
        receiptId: id,
        partnerId: 'crm-one',
        outcome: 'FAILED',
        code: 'partner-unknown',
      },
    ]);
    expect(await desk.eventOf(id)).toMatchObject({
      outcome: 'FAILED',
      lastError: 'partner-unknown',
    });
    expect(await desk.replay(id)).toMatchObject({ queued: 1 });
    await matchEvents(matchDepsOf(desk), await desk.lease('match'));
    expect((await desk.eventOf(id))?.leadIds).toEqual(['1']);
  });
});

test('a payload that cannot be read for now waits, and holds up no other', async () => {
  const desk = await setUp();
  const [large, small] = [await desk.accept(1), await desk.accept(2)];
  let isFull = true;
  const deps = matchDepsOf(desk, {
    readDelivery: (body, fields) =>
      isFull && body.includes('"1"')
        ? Promise.reject(new TrackportError('overloaded'))
        : readDelivery(body, fields),
  });
  await matchEvents(deps, await desk.lease('match'));
  expect((await desk.eventOf(small))?.leadIds).toEqual(['2']);
  expect(await desk.eventOf(large)).toMatchObject({ outcome: 'PENDING', attempts: 0 });
  isFull = false;
  expect(await desk.lease('match')).toEqual([]);
  await desk.clock.advance(5000);
  await matchEvents(deps, await desk.lease('match'));
  expect((await desk.eventOf(large))?.leadIds).toEqual(['1']);
});

test('a lost secret key leaves a dead letter that can be replayed once the key is back', async () => {
  const desk = await setUp();
  const id = await desk.accept(1);
  const otherKey = createPayloadSealer(Buffer.alloc(32, 9));
  const deps = { newId: newUuid, repository: REPOSITORY, sealer: otherKey };
  const store = createWorkStore({ ...deps, database: desk.database });
  const items = await store.lease('match', desk.clock.now(), 10);
  await matchEvents(matchDepsOf(desk, { store }), items);
  expect(await desk.eventOf(id)).toMatchObject({
    outcome: 'FAILED',
    lastError: 'payload-unreadable',
  });
  expect(await desk.replay(id)).toMatchObject({ queued: 1 });
  await matchEvents(matchDepsOf(desk), await desk.lease('match'));
  expect((await desk.eventOf(id))?.leadIds).toEqual(['1']);
});

describe('an error that nobody foresaw', () => {
  test('in a match makes a dead letter of its event, and all others are claimed', async () => {
    const desk = await setUp();
    const ids = [await desk.accept(1), await desk.accept(2), await desk.accept(3)];
    const deps = matchDepsOf(desk, {
      store: {
        ...desk.store,
        match: async (names, createdBefore) => {
          if (names.some((name) => name.kind === 'lead-id' && name.number === 2))
            throw new RangeError('two');
          return desk.store.match(names, createdBefore);
        },
      },
    });
    await matchEvents(deps, await desk.lease('match'));
    const [one, two, three] = await Promise.all(ids.map(desk.eventOf));
    expect(two).toMatchObject({ outcome: 'FAILED', lastError: 'internal-error' });
    for (const other of [one, three]) expect(other?.leadIds).toHaveLength(1);
    expect(await desk.lease('act')).toHaveLength(2);
  });

  test('in an action spends a try, and after the last one it is a dead letter', async () => {
    const desk = await setUp();
    const id = await desk.accept(1);
    const deps = actDepsOf(desk, {
      read: async () => {
        throw new RangeError('no');
      },
    });
    const item = await leaseForActions(desk);
    expect(await actOnEvent(deps, item, never)).toEqual({ kind: 'rescheduled' });
    expect(await desk.eventOf(id)).toMatchObject({ attempts: 1, lastError: 'internal-error' });
    await desk.clock.advance(1000);
    const [again] = await desk.lease('act');
    await actOnEvent(deps, again as WorkItem<ActProgress>, never);
    expect(await desk.eventOf(id)).toMatchObject({
      outcome: 'FAILED',
      attempts: 2,
      lastError: 'internal-error',
    });
  });
});

test('an event whose store failed half-way, and again at giving it back, is finished soon', async () => {
  const database = temporaryDatabase();
  let refusals = 0;
  const refusing = <T>(work: () => T): T => {
    if (refusals > 0) {
      refusals -= 1;
      throw new TrackportError('store-unavailable');
    }
    return work();
  };
  const flaky = withCommits(database, refusing);
  const { tracker } = await openDesk();
  const desk = await openDesk({ of: { tracker, database: flaky }, actions: ['comment'] });
  await desk.start();
  const { number } = tracker.createIssue(leadIssue());
  const gate = tracker.hold({ method: 'POST' });
  const id = await desk.send({ leadId: String(number) });
  await gate.arrived();
  refusals = 4;
  gate.open();
  // A lease that is only left to end would take longer than this waits.
  const [event] = (await desk.settled(id)).events;
  expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
  expect(tracker.readIssue(number)?.comments).toHaveLength(1);
});

test.each([
  ['settled', { kind: 'settled', outcome: 'UNMATCHED' }, 1],
  ['again', { kind: 'rescheduled' }, 0],
  ['lost', { kind: 'left' }, 0],
] as const)(
  'an end that the store answers with %s is told as what it is',
  async (answer, told, lines) => {
    const desk = await setUp();
    await desk.accept(1);
    const item = await leaseForActions(desk);
    const reported: unknown[] = [];
    const deps: ActDeps = {
      ...actDepsOf(desk, {}),
      store: { ...desk.store, heldUnderLease: async () => [], settle: async () => answer },
      reporter: { settled: (report) => void reported.push(report), attemptFailed: () => undefined },
    };
    expect(await actOnEvent(deps, item, never)).toEqual(told);
    expect(reported).toHaveLength(lines);
  },
);

test('progress that another version wrote is begun anew, and the claims stay', async () => {
  const desk = await setUp();
  await desk.accept(1);
  const item = await leaseForActions(desk);
  await desk.store.giveBack(item);
  desk.database.handle.exec(
    `UPDATE event SET progress = json_set(progress, '$.leads[0].mood', 'new')`,
  );
  const [unreadable] = await desk.lease('act');
  if (!unreadable) throw new Error('nothing is due');
  expect(unreadable).not.toHaveProperty('progress');
  await actOnEvent(actDepsOf(desk, {}), unreadable as WorkItem<ActProgress>, never);
  const [anew] = await desk.lease('match');
  expect(anew).toMatchObject({ attempts: 0, progress: { stage: 'match' } });
  expect(await desk.store.held(anew ?? unreadable)).toEqual([1]);
});
