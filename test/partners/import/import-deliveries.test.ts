import { describe, expect, test } from 'vitest';
import {
  createImporter,
  type Forecast,
  type ImportedDelivery,
  type ImportedFile,
} from '#partners/import/import-deliveries.ts';
import { createPartner, createPartnerList } from '#partners/partner.ts';
import type { Database } from '#shared/database.ts';
import { DAY, HOUR, MINUTE, toRfc3339 } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { createClaims } from '../../support/claims.ts';
import { createFakeClock } from '../../support/clock.ts';
import { directoryKey, entry, openedDirectory, REPOSITORY } from '../../support/directory.ts';
import { email } from '../../support/identities.ts';
import { secretsOf } from '../../support/partners.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { listReceipts, readReceipt } from '#partners/receipts/read-receipts.ts';
import { putEntries } from '#leads/directory/write-directory.ts';
import { openWorld } from '../../support/world.ts';

const settings = {
  scheme: 'hmac-sha256',
  secrets: secretsOf('s'),
  deletions: { types: ['gone'] },
} as const;
const [partner] = createPartnerList([createPartner('crm-one', settings)]).all();
const origin = { actor: { kind: 'cli', subject: 'ada' } } as const;

const engines: [engine: string, open: () => Promise<Database>][] = [
  ['SQLite', async () => temporaryDatabase()],
  ['PostgreSQL', () => temporaryPostgres()],
];

describe.each(engines)('a file that is brought in, on %s', (_engine, open) => {
  async function setUp() {
    const db = await open();
    const clock = createFakeClock();
    const now = clock.now();
    const directory = await openedDirectory(db);
    const known = (number: number, who: string, createdAt: number) =>
      entry(number, { createdAt, identities: [email(`${who}@b.example`)] });
    await putEntries(directory, [
      known(1, 'ada', now - 2 * DAY),
      known(2, 'ada', now - HOUR),
      known(3, 'bob', now - HOUR),
    ]);
    const built = openWorld({ database: db, clock, partners: { 'crm-one': settings } });
    const importer = createImporter({
      db,
      partners: [],
      repository: REPOSITORY,
      writeReceipt: built.receipts.accept,
      directoryKey,
      latestCreation: () => clock.now() + MINUTE,
      newId: newUuid,
      bytesMax: 1024,
      clock,
    });
    const fileOf = (lines: readonly unknown[]): ImportedFile => {
      if (!partner) throw new Error('no partner');
      const text = lines.map((line) => JSON.stringify(line)).join('\n');
      const opened = async function* () {
        yield Buffer.from(text);
      };
      return { partner, path: 'deletions', open: opened };
    };
    const take = async (lines: readonly unknown[], most = Infinity) => {
      const file = fileOf(lines);
      const deliveries = await importer.check(file);
      const taken: ImportedDelivery[] = [];
      for await (const one of importer.import(file, { deliveries, origin })) {
        taken.push(one);
        if (taken.length >= most) break;
      }
      return taken;
    };
    const foresee = async (lines: readonly unknown[]) => {
      const forecasts: Forecast[] = [];
      for await (const one of importer.preview(fileOf(lines))) forecasts.push(one);
      return forecasts;
    };
    const claims = createClaims(db);
    const claimed = async () => {
      const view = await claims.current();
      return [1, 2, 3, 4].filter((number) => view.has(number));
    };
    return { ...built, db, directory, now, take, foresee, claimed };
  }

  const gone = (facts: object) => ({ eventType: 'gone', ...facts });

  test.each<[what: string, event: (now: number) => object, claimed: number[]]>([
    ['happened before a lead came', (now) => ({ occurredAt: now - DAY, email: ADA }), [1]],
    ['says so in seconds', (now) => ({ occurredAt: (now - DAY) / 1000, email: ADA }), [1]],
    ['says so by RFC 3339', (now) => ({ occurredAt: toRfc3339(now - DAY), email: ADA }), [1]],
    [
      'says so with an offset without a colon',
      (now) => ({ occurredAt: toRfc3339(now - DAY).replace('Z', '+0000'), email: ADA }),
      [1],
    ],
    [
      'happened within a minute of it',
      (now) => ({ occurredAt: now - HOUR - MINUTE, email: ADA }),
      [1, 2],
    ],
    ['happened before that', (now) => ({ occurredAt: now - HOUR - MINUTE - 1, email: ADA }), [1]],
    ['does not say when', () => ({ email: ADA }), [1, 2]],
    [
      'does not say it so that it can be read',
      () => ({ occurredAt: 'Monday', email: ADA }),
      [1, 2],
    ],
    ['leaves the zone open', () => ({ occurredAt: '2026-01-01T00:00:00', email: ADA }), [1, 2]],
    ['is to happen', (now) => ({ occurredAt: now + DAY, email: ADA }), [1, 2]],
    ['names a lead by its number, whenever', (now) => ({ occurredAt: now - DAY, leadId: 3 }), [3]],
  ])('claims who was there when it happened: an event that %s', async (_what, eventAt, claimed) => {
    const world = await setUp();
    const lines = [gone(eventAt(world.now))];
    const [forecast] = await world.foresee(lines);
    expect(await world.claimed()).toEqual([]);
    await world.take(lines);
    expect(await world.claimed()).toEqual(claimed);
    expect(forecast?.leads).toBe(claimed.length);
  });

  test('foretells which events count from the import', async () => {
    const { foresee, now } = await setUp();
    const forecast = await foresee([
      gone({ occurredAt: now - DAY, email: ADA }),
      gone({ occurredAt: '2026-11-21', email: ADA }),
      [gone({ email: ADA }), gone({ occurredAt: 'Monday', externalId: '4711' }), gone({})],
      gone({ leadId: 3 }),
    ]);
    expect(forecast.map(({ undated }) => undated)).toEqual([0, 1, 2, 0]);
  });

  test('changes nothing in a dry run, which says what the import then does', async () => {
    const { take, foresee, deliver, receipts, claimed } = await setUp();
    const sent = await deliver(gone({ eventId: '0', email: 'bob@b.example' }));
    const before = await listReceipts(receipts.db, { filter: {}, limit: 100 });
    const lines = [
      gone({ eventId: '0', email: 'bob@b.example' }),
      gone({ eventId: '1', email: ADA }),
      gone({ eventId: '1', email: ADA }),
      [gone({ eventId: '1', email: ADA }), gone({ eventId: '2' }), { eventType: 'else' }],
      [],
    ];
    const forecast = await foresee(lines);
    expect(await listReceipts(receipts.db, { filter: {}, limit: 100 })).toEqual(before);
    expect(await claimed()).toEqual([3]);
    expect(forecast).toEqual([
      { line: 1, id: sent.receipt.id, repeat: true, outcomes: {}, leads: 0, undated: 0 },
      { line: 2, repeat: false, outcomes: { PENDING: 1 }, leads: 2, undated: 1 },
      { line: 3, repeat: true, outcomes: {}, leads: 0, undated: 0 },
      { line: 4, repeat: false, outcomes: { IGNORED: 1, REJECTED: 1 }, leads: 0, undated: 0 },
      { line: 5, repeat: false, outcomes: {}, leads: 0, undated: 0 },
    ]);
    const done = await take(lines);
    expect(done.map(({ line, repeat, outcomes }) => ({ line, repeat, outcomes }))).toEqual(
      forecast.map(({ line, repeat, outcomes }) => ({ line, repeat, outcomes })),
    );
    expect(await claimed()).toEqual([1, 2, 3]);
  });

  test('is taken once, however often it is interrupted', async () => {
    const { take, receipts } = await setUp();
    const lines = Array.from({ length: 250 }, (_, at) => gone({ eventId: `e-${at}`, email: ADA }));
    expect(await take(lines, 3)).toHaveLength(3);
    const second = await take(lines, 120);
    expect(second.map(({ repeat }) => repeat)).toEqual(second.map((_, at) => at < 100));
    const all = await take(lines);
    expect(all.map(({ repeat }) => repeat)).toEqual(all.map((_, at) => at < 200));
    const stored = await listReceipts(receipts.db, { filter: {}, limit: 300 });
    expect(stored.map(({ item }) => item.id).reverse()).toEqual(all.map(({ id }) => id));
  });

  test('leaves a lead alone that got its number after the event was first brought in', async () => {
    const { clock, directory, now, take, foresee, claimed, deliver } = await setUp();
    const event = gone({ eventId: '1', leadId: 4, occurredAt: now - DAY });
    await take([event]);
    expect(await claimed()).toEqual([4]);
    await directory.db.exec(`DELETE FROM claim; ${END_UNMATCHED}`);
    await clock.advance(HOUR);
    await putEntries(directory, [entry(4, { createdAt: now + MINUTE + 1 })]);
    const [forecast] = await foresee([event]);
    const [repeat] = await take([event]);
    expect([forecast?.leads, repeat?.queued]).toEqual([0, 1]);
    expect(await claimed()).toEqual([]);
    await directory.db.exec(END_UNMATCHED);
    await deliver(event);
    expect(await claimed()).toEqual([4]);
  });

  test('takes no lead back that the same event had claimed when it was sent', async () => {
    const { db, take, foresee, deliver, receipts, claimed, now } = await setUp();
    // Without an event id it may be asked for anew.
    const event = gone({ email: ADA, occurredAt: now - DAY });
    const undated = gone({ email: ADA });
    await deliver(undated);
    const { receipt } = await deliver(event);
    expect(await claimed()).toEqual([1, 2]);
    const forecasts = await foresee([event, undated, [undated, gone({ eventId: '1' })]]);
    expect(forecasts.map((one) => [one.leads, one.undated])).toEqual([
      [1, 0],
      [2, 1],
      [2, 1],
    ]);
    const [repeat] = await take([event]);
    expect(repeat).toMatchObject({ id: receipt.id, repeat: true });
    expect(await claimed()).toEqual([1, 2]);
    expect((await readReceipt(receipts.db, receipt.id))?.events[0]?.leadIds).toEqual(['1', '2']);
    expect(await db.get('SELECT created_before FROM event')).toEqual({ createdBefore: now });
  });
});

const ADA = 'ada@b.example';
const END_UNMATCHED = "UPDATE event SET outcome = 'UNMATCHED', due_at = NULL, completed_at = 0";
