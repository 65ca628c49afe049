/** One event that nothing can be done with must not stop the others, nor be lost. */
import { describe, expect, test } from 'vitest';
import { type Acting, actOnEvent } from '#partners/worker/act/act-on-event.ts';
import type { WorkItem } from '#partners/worker/work-item.ts';
import type { ActProgress } from '#partners/receipts/event-progress.ts';
import type { IssueEditor } from '#partners/worker/act/issue-editor.ts';
import { type Matching, matchEvents } from '#partners/worker/match/match-event.ts';
import { createPacer, createWriteRefusals } from '#partners/worker/may-write.ts';
import { createPartner, createPartnerList } from '#partners/partner.ts';
import { createOutcomeReporter } from '#partners/receipts/report-outcomes.ts';
import { readDelivery } from '#partners/read-delivery.ts';
import { TrackportError } from '#shared/errors.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { createClaims } from '../../support/claims.ts';
import { createFakeClock } from '../../support/clock.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { openDeletions } from '../../support/deletions/world.ts';
import { claimLeads, directoryKey, openedDirectory, REPOSITORY } from '../../support/directory.ts';
import { operatorsOf, receiptsIn, keepMatch, workIn, acceptEvent } from '../../support/partners.ts';
import { temporaryDatabase, withCommits } from '../../support/stores.ts';
import { leadsOf } from '#partners/worker/held-leads.ts';
import { giveBack, leaseEvents } from '#partners/worker/lease-events.ts';
import { readWorkCounts } from '#partners/worker/worker.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';
import type { LocalDatabase } from '#adapters/sqlite/database.ts';
import { type Transact, withoutWarning } from '#shared/database.ts';
import { keyOf } from '../../support/keys.ts';

/** The same database; `before` is called before every row is written in a transaction, and may throw. */
function withWrites(
  database: LocalDatabase,
  before: (sql: string, values: unknown) => void,
): LocalDatabase {
  const around =
    (transact: Transact): Transact =>
    (work) =>
      transact(async (tx) => {
        const failures: unknown[] = [];
        const checked = <T>(sql: string, values: unknown, write: () => Promise<T>): Promise<T> => {
          try {
            before(sql, values);
            return write();
          } catch (error) {
            failures.push(error);
            return withoutWarning(Promise.reject<T>(error));
          }
        };
        const result = await work({
          ...tx,
          run: (sql, values) => checked(sql, values, () => tx.run(sql, values)),
          insert: (into, rows) => checked(into.all, rows, () => tx.insert(into, rows)),
        });
        if (failures.length > 0) throw failures[0]; // also one that nobody waited for
        return result;
      });
  const { transaction, exclusive } = database;
  return { ...database, transaction: around(transaction), exclusive: around(exclusive) };
}

const secrets = [{ value: new Secret('s') }];
const partner = createPartner('crm-one', { scheme: 'hmac-sha256', secrets });

async function setUp() {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const directory = await openedDirectory(database, [1, 2, 3]);
  const receipts = receiptsIn(database);
  const store = workIn(database);
  const lease = (stage: 'match' | 'act') =>
    leaseEvents(store, stage, { now: clock.now(), limit: 10 });
  return {
    clock,
    database,
    directory,
    store,
    claims: createClaims(database),
    lease,
    accept: (leadId: number) =>
      acceptEvent(receipts, {
        at: clock.now(),
        sameEventKey: Buffer.from(`lead ${leadId}`),
        payload: Buffer.from(JSON.stringify({ leadId: String(leadId) })),
      }),
    replay: (id: string) =>
      operatorsOf(database, clock.now()).replay(id, { actor: { kind: 'cli', subject: 'ops' } }),
    eventOf: async (id: string) => (await readReceipt(receipts.db, id))?.events[0],
  };
}

type DeletionWorld = Awaited<ReturnType<typeof setUp>>;

/** Leases one event for its actions, with its leads claimed. */
async function leaseForActions(world: DeletionWorld, leads = [1]): Promise<WorkItem<ActProgress>> {
  const [matched] = await world.lease('match');
  if (!matched) throw new Error('nothing is due');
  const next = { actions: ['close' as const], now: world.clock.now() };
  await keepMatch(world.store, { item: matched, match: { leads, conflicts: [] }, plan: next });
  const [item] = await world.lease('act');
  return item as WorkItem<ActProgress>;
}

const actDepsOf = (world: DeletionWorld, editor: Partial<IssueEditor>): Acting => ({
  db: world.database,
  repository: REPOSITORY,
  editor: editor as IssueEditor,
  rules: () => ({ labels: { approved: 'approved', deleted: 'deleted' }, retryMs: [1000] }),
  isListed: async () => false,
  missingLooksMs: [],
  replicaLagMs: 0,
  pacer: createPacer(world.clock, 0),
  refusals: createWriteRefusals(),
  clock: world.clock,
  log: silentLog,
  reporter: reporterOf(silentLog),
  random: () => 0.5,
});

const reporterOf = (log: Log) => createOutcomeReporter({ log, count: () => undefined });

const never = new AbortController().signal;

const matchDepsOf = (world: DeletionWorld, deps: Partial<Matching> = {}): Matching => ({
  db: world.database,
  repository: REPOSITORY,
  directory: {
    cover: async () => ({ until: world.clock.now(), isComplete: true, since: -Infinity }),
    retryMs: () => 0,
    askAgain: () => undefined,
    mayLookUp: () => true,
    noteFailedLookUp: () => undefined,
  },
  filler: { learn: async () => 'absent' },
  directoryKey,
  readDelivery,
  partners: createPartnerList([partner]),
  clock: world.clock,
  log: silentLog,
  reporter: reporterOf(silentLog),
  unmatchedWaitsMs: [],
  ...deps,
});

describe('a partner that is', () => {
  test('disabled: what was accepted before is finished', async () => {
    const world = await setUp();
    const id = await world.accept(1);
    const disabled = { scheme: 'hmac-sha256', secrets, enabled: false } as const;
    const partners = createPartnerList([createPartner('crm-one', disabled)]);
    await matchEvents(matchDepsOf(world, { partners }), await world.lease('match'));
    expect((await world.eventOf(id))?.leadIds).toEqual(['1']);
  });

  test('not in the file: it waits without an attempt, told once, and holds up no other', async () => {
    const world = await setUp();
    const id = await world.accept(1);
    const lines: unknown[] = [];
    const log: Log = { ...silentLog, warn: (fields, msg) => void lines.push({ ...fields, msg }) };
    const gone = matchDepsOf(world, {
      partners: createPartnerList([]),
      log,
      reporter: reporterOf(log),
    });
    for (let looks = 0; looks < 20; looks += 1) {
      await matchEvents(gone, await world.lease('match'));
      await world.clock.advance(10_000);
    }
    expect(lines).toEqual([
      {
        msg: 'an event waits: the configuration lacks its partner',
        receiptId: id,
        partnerId: 'crm-one',
        code: 'partner-unknown',
      },
    ]);
    expect(await world.eventOf(id)).toMatchObject({
      outcome: 'PENDING',
      attempts: 0,
      lastError: 'partner-unknown',
    });
    const other = createPartnerList([createPartner('crm-two', { scheme: 'hmac-sha256', secrets })]);
    await matchEvents({ ...gone, partners: other }, await world.lease('match'));
    expect((await readWorkCounts(world.store.db)).lackedPartners).toEqual(['crm-one']);
    await world.clock.advance(60_000);
    await matchEvents(matchDepsOf(world), await world.lease('match'));
    expect((await world.eventOf(id))?.leadIds).toEqual(['1']);
    expect((await readWorkCounts(world.store.db)).lackedPartners).toEqual([]);
  });
});

test('a payload that cannot be read for now waits, and holds up no other', async () => {
  const world = await setUp();
  const [large, small] = [await world.accept(1), await world.accept(2)];
  let isFull = true;
  const deps = matchDepsOf(world, {
    readDelivery: (body, fields) =>
      isFull && body.includes('"1"')
        ? Promise.reject(new TrackportError('overloaded'))
        : readDelivery(body, fields),
  });
  await matchEvents(deps, await world.lease('match'));
  expect((await world.eventOf(small))?.leadIds).toEqual(['2']);
  expect(await world.eventOf(large)).toMatchObject({ outcome: 'PENDING', attempts: 0 });
  isFull = false;
  expect(await world.lease('match')).toEqual([]);
  await world.clock.advance(5000);
  await matchEvents(deps, await world.lease('match'));
  expect((await world.eventOf(large))?.leadIds).toEqual(['1']);
});

test('a lost secret key leaves a dead letter that can be replayed once the key is back', async () => {
  const world = await setUp();
  const id = await world.accept(1);
  const store = workIn(world.database, { key: keyOf(9) });
  const items = await leaseEvents(store, 'match', { now: world.clock.now(), limit: 10 });
  await matchEvents(matchDepsOf(world), items);
  expect(await world.eventOf(id)).toMatchObject({
    outcome: 'FAILED',
    lastError: 'payload-unreadable',
  });
  expect(await world.replay(id)).toMatchObject({ queued: 1 });
  await matchEvents(matchDepsOf(world), await world.lease('match'));
  expect((await world.eventOf(id))?.leadIds).toEqual(['1']);
});

test('an event that other fields read nobody in stays hidden, for a replay with the former ones', async () => {
  const world = await setUp();
  const id = await world.accept(1);
  await claimLeads(world.database, { numbers: [1] });
  const others = createPartner('crm-one', {
    scheme: 'hmac-sha256',
    secrets,
    fields: { leadId: '/elsewhere' },
  });
  const deps = matchDepsOf(world, { partners: createPartnerList([others]) });
  await matchEvents(deps, await world.lease('match'));
  const unreadable = { outcome: 'FAILED', lastError: 'payload-unreadable' };
  expect(await world.eventOf(id)).toMatchObject(unreadable);
  expect((await world.claims.current()).has(1)).toBe(true);
  expect(await world.replay(id)).toMatchObject({ queued: 1 });
  await matchEvents(matchDepsOf(world), await world.lease('match'));
  expect((await world.eventOf(id))?.leadIds).toEqual(['1']);
});

describe('an error that nobody foresaw', () => {
  test('in a match makes a dead letter of its event, and all others are claimed', async () => {
    const world = await setUp();
    const ids = [await world.accept(1), await world.accept(2), await world.accept(3)];
    const deps = matchDepsOf(world, {
      readDelivery: (body, fields) => {
        if (body.includes('"2"')) throw new RangeError('two');
        return readDelivery(body, fields);
      },
    });
    await matchEvents(deps, await world.lease('match'));
    const [one, two, three] = await Promise.all(ids.map(world.eventOf));
    expect(two).toMatchObject({ outcome: 'FAILED', lastError: 'internal-error' });
    for (const other of [one, three]) expect(other?.leadIds).toHaveLength(1);
    expect(await world.lease('act')).toHaveLength(2);
  });

  test('in the claims of one makes a dead letter of it, and all others are claimed', async () => {
    const world = await setUp();
    const ids = [await world.accept(1), await world.accept(2), await world.accept(3)];
    const db = withWrites(world.database, (sql, values) => {
      if (sql.includes('INTO claim') && /number\W+2\b/.test(JSON.stringify(values)))
        throw new RangeError('two');
    });
    await matchEvents(matchDepsOf(world, { db }), await world.lease('match'));
    const [one, two, three] = await Promise.all(ids.map(world.eventOf));
    expect(two).toMatchObject({ outcome: 'FAILED', lastError: 'internal-error' });
    for (const other of [one, three]) expect(other?.leadIds).toHaveLength(1);
    expect(await world.lease('act')).toHaveLength(2);
  });

  test('in an action spends a try, and after the last one it is a dead letter', async () => {
    const world = await setUp();
    const id = await world.accept(1);
    const deps = actDepsOf(world, {
      read: async () => {
        throw new RangeError('no');
      },
    });
    const item = await leaseForActions(world);
    expect(await actOnEvent(deps, item, never)).toEqual({ kind: 'rescheduled' });
    expect(await world.eventOf(id)).toMatchObject({ attempts: 1, lastError: 'internal-error' });
    await world.clock.advance(1000);
    const [again] = await world.lease('act');
    await actOnEvent(deps, again as WorkItem<ActProgress>, never);
    expect(await world.eventOf(id)).toMatchObject({
      outcome: 'FAILED',
      attempts: 2,
      lastError: 'internal-error',
    });
  });

  test('in an action on one lead takes nothing from what the last try did to another', async () => {
    const world = await setUp();
    await world.accept(1);
    const reported: unknown[] = [];
    const acting: Acting = {
      ...actDepsOf(world, {
        read: async (number) => {
          if (number === 2) throw new RangeError('two');
          return { kind: 'gone', isDeleted: true };
        },
      }),
      rules: () => ({ labels: { approved: 'approved', deleted: 'deleted' }, retryMs: [] }),
      reporter: { settled: (report) => void reported.push(report), attemptFailed: () => undefined },
    };
    await actOnEvent(acting, await leaseForActions(world, [1, 2]), never);
    expect(reported).toMatchObject([{ outcome: 'FAILED', code: 'internal-error', issues: [2] }]);
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
  const { tracker } = await openDeletions();
  const world = await openDeletions({ of: { tracker, database: flaky }, actions: ['comment'] });
  await world.start();
  const { number } = tracker.createIssue(leadIssue());
  const gate = tracker.hold({ method: 'POST' });
  const id = await world.send({ leadId: String(number) });
  await gate.arrived();
  refusals = 4;
  gate.open();
  // A lease that is only left to end would take longer than this waits.
  const [event] = (await world.settled(id)).events;
  expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
  expect(tracker.readIssue(number)?.comments).toHaveLength(1);
});

test.each([
  ['settled', { kind: 'settled', outcome: 'UNMATCHED' }, 1],
  ['again', { kind: 'rescheduled' }, 0],
  ['lost', { kind: 'left' }, 0],
] as const)('an end that is %s is told as what it is', async (how, told, lines) => {
  const world = await setUp();
  await world.accept(1);
  const item = await leaseForActions(world);
  const reported: unknown[] = [];
  const deps: Acting = {
    ...actDepsOf(world, {}),
    reporter: { settled: (report) => void reported.push(report), attemptFailed: () => undefined },
  };
  await world.claims.release(1, { at: 1, actor: { kind: 'cli', subject: 'ops' } });
  if (how === 'again') await world.database.exec('UPDATE event SET again = 5');
  const isLost = how === 'lost';
  const ending = isLost ? { ...item, leaseToken: 'of another' } : item;
  expect(await actOnEvent(deps, ending, never)).toEqual(told);
  expect(reported).toHaveLength(lines);
});

test('progress that another version wrote is begun anew, and the claims stay', async () => {
  const world = await setUp();
  await world.accept(1);
  const item = await leaseForActions(world);
  await giveBack(world.store.db, item);
  await world.database.exec(
    `UPDATE event SET progress = json_set(progress, '$.leads[0].mood', 'new')`,
  );
  const [unreadable] = await world.lease('act');
  if (!unreadable) throw new Error('nothing is due');
  expect(unreadable).not.toHaveProperty('progress');
  await actOnEvent(actDepsOf(world, {}), unreadable as WorkItem<ActProgress>, never);
  const [anew] = await world.lease('match');
  expect(anew).toMatchObject({ attempts: 0, progress: { stage: 'match' } });
  expect(await leadsOf(world.store, anew ?? unreadable)).toEqual([1]);
});
