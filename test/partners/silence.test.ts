import { describe, expect, test } from 'vitest';
import { createHearing, createSilenceWatch, readHeard } from '#partners/silence.ts';
import { createPartner, createPartnerList, type PartnerSettings } from '#partners/partner.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { createFakeClock } from '../support/clock.ts';
import { engines } from '../support/engines.ts';
import { secretsOf } from '../support/partners.ts';

type Settings = Partial<Pick<PartnerSettings, 'enabled' | 'expectEvery'>>;

const listOf = (partners: Record<string, Settings>) =>
  createPartnerList(
    Object.entries(partners).map(([id, settings]) =>
      createPartner(id, { scheme: 'hmac-sha256', secrets: secretsOf('s'), ...settings }),
    ),
  );

describe.each(engines)('who was heard of in %s', (_engine, open) => {
  async function setUp() {
    const [database, second] = await open();
    const clock = createFakeClock();
    const hearing = createHearing({ database, clock, log: silentLog });
    const other = createHearing({ database: second, clock, log: silentLog });
    const keep = (partners: Record<string, Settings>, by = hearing) =>
      by.keep(listOf(partners).all());
    return { database, clock, hearing, other, keep };
  }

  test('counts from when the partner is configured, whatever starts anew', async () => {
    const { clock, database, hearing, other, keep } = await setUp();
    const start = clock.now();
    await keep({ crm: {} });
    await clock.advance(HOUR);
    await keep({ crm: {}, late: {} }, other);
    const heard = new Map([
      ['crm', start],
      ['late', start + HOUR],
    ]);
    expect(await readHeard(database)).toEqual(heard);
    expect(await hearing.read()).toEqual(heard);
  });

  test('is known to the instance that accepted at once, and to all when it was written', async () => {
    const { clock, hearing, other, keep } = await setUp();
    const start = clock.now();
    await keep({ crm: {} });
    await clock.advance(HOUR);
    hearing.note('crm');
    expect((await hearing.read()).get('crm')).toBe(start + HOUR);
    expect((await other.read()).get('crm')).toBe(start);
    await clock.advance(MINUTE);
    other.note('crm');
    await other.close();
    await hearing.close(); // an older instant takes nothing back
    expect((await hearing.read()).get('crm')).toBe(start + HOUR + MINUTE);
  });

  test('begins anew for a partner that is enabled again, and stays for one that is away', async () => {
    const { clock, database, keep } = await setUp();
    const start = clock.now();
    await keep({ crm: {}, away: {} });
    await clock.advance(HOUR);
    await keep({ crm: { enabled: false } });
    expect(await readHeard(database)).toEqual(new Map([['away', start]]));
    await clock.advance(HOUR);
    await keep({ crm: {}, away: {} });
    const crm = start + 2 * HOUR;
    expect(await readHeard(database)).toEqual(new Map(Object.entries({ away: start, crm })));
  });
});

describe('the log', () => {
  async function setUp(first: Record<string, Settings>) {
    const [, open] = engines[0] ?? [];
    const [database] = (await open?.()) ?? [];
    if (!database) throw new Error('no store');
    const clock = createFakeClock();
    const lines: string[] = [];
    const note = (fields: object, message: string) =>
      void lines.push(`${message} ${JSON.stringify(fields)}`);
    const log: Log = { ...silentLog, info: note, warn: note };
    const hearing = createHearing({ database, clock, log });
    let partners = listOf(first);
    const watch = createSilenceWatch({ partners: () => partners, hearing, clock, log });
    /** Looks once, and says what the log has got. */
    const look = async () => {
      watch.start();
      await watch.stop();
      return lines.splice(0);
    };
    const reload = (next: Record<string, Settings>) => (partners = listOf(next));
    return { clock, hearing, look, reload };
  }

  const SILENT = 'a partner has fallen silent {"partnerId":"crm","since":"2026-03-01T12:00:00Z"}';
  const SENDS = 'a partner is not silent any more {"partnerId":"crm"}';

  test('has one line when a partner falls silent, and one when it sends again', async () => {
    const { clock, hearing, look } = await setUp({ crm: { expectEvery: DAY }, other: {} });
    expect(await look()).toEqual([]);
    await clock.advance(DAY);
    expect(await look()).toEqual([]);
    await clock.advance(1);
    expect(await look()).toEqual([SILENT]);
    await clock.advance(HOUR);
    expect(await look()).toEqual([]);
    hearing.note('crm');
    expect(await look()).toEqual([SENDS]);
    await clock.advance(SECOND);
    expect(await look()).toEqual([]);
  });

  test.each<[string, Record<string, Settings>]>([
    ['disabled', { crm: { expectEvery: DAY, enabled: false } }],
    ['expected no more', { crm: {} }],
    ['expected less often', { crm: { expectEvery: 3 * DAY } }],
    ['not there any more', {}],
  ])('ends the silence of a partner that is %s', async (_how, next) => {
    const { clock, look, reload } = await setUp({ crm: { expectEvery: DAY } });
    await look();
    await clock.advance(DAY + 1);
    expect(await look()).toEqual([SILENT]);
    reload(next);
    expect(await look()).toEqual([SENDS]);
    expect(await look()).toEqual([]);
  });
});
