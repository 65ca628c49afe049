import { beforeEach, describe, expect, test } from 'vitest';
import { deprecateVersion, retireVersion } from '#catalog/lifecycle/change-lifecycle.ts';
import { publishVersion } from '#catalog/lifecycle/publish.ts';
import type { SearchVersions } from '#catalog/reading/search.ts';
import {
  listDeprecatedReads,
  readUsage,
  createReadRecord,
  type ReaderRef,
} from '#catalog/usage.ts';
import { createVersion, deleteVersion } from '#catalog/version/write-version.ts';
import { createAccess } from '#access/index.ts';
import { DAY } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { origin } from '../access/support.ts';
import { createFakeClock } from '../support/clock.ts';
import { newDraft, owner } from './catalog.ts';
import { openWorld } from '../support/world.ts';
import { keyOf } from '../support/keys.ts';

type Open = () => Promise<{ db: Database; search: SearchVersions }>;

const shop: ReaderRef = { kind: 'client', id: 'shop' };
const toAll = () => true;

/** One body for every engine: what the record of reads promises. */
export function describeUsage(engine: string, open: Open): void {
  describe(`the record of reads on ${engine}`, () => {
    let db: Database;
    let search: SearchVersions;

    beforeEach(async () => {
      ({ db, search } = await open());
    });

    /** One instance on the store. */
    const openInstance = (clock = createFakeClock()) => {
      const usage = createReadRecord({ db, clock, log: silentLog });
      const { catalog } = openWorld({ database: db, clock, catalog: { search, usage } });
      const publish = async (id: string, version: string) => {
        const { record } = await createVersion(catalog, owner, newDraft({ id, version }));
        await publishVersion(catalog, owner, { id, version });
        return record.serial;
      };
      return { catalog, usage, clock, publish };
    };
    const readersOf = async ({ catalog }: ReturnType<typeof openInstance>) => {
      const { items } = await readUsage(catalog, owner, { id: 'a', mayName: toAll });
      return items.map(({ readers }) => readers);
    };

    test('instances add to one count, by day, and the latest read stands', async () => {
      const [one, two] = [openInstance(), openInstance()];
      const serial = await one.publish('a', '1.0.0');
      for (const { usage } of [one, one, two]) usage.record(serial, shop);
      await Promise.all([one.usage.flush(), two.usage.flush()]);
      await two.clock.advance(DAY);
      two.usage.record(serial, shop);
      await one.clock.advance(DAY);
      expect(await readersOf(two)).toEqual([[{ ...shop, lastReadAt: two.clock.now(), reads: 4 }]]);
      const days = await db.all('SELECT day, reads FROM catalog_usage ORDER BY day');
      expect(days).toMatchObject([{ reads: 3 }, { reads: 1 }]);
    });

    test('a consumer has its name, and is another one than a client of the same id', async () => {
      const instance = openInstance();
      const serial = await instance.publish('a', '1.0.0');
      const access = createAccess({
        db,
        cursors: createCursorSealer(keyOf(1)),
        newId: newUuid,
        clock: instance.clock,
        log: silentLog,
        limitPerMinute: () => 600,
      });
      const { consumer } = await access.consumers.create({ name: 'Sales', force: true }, origin);
      for (const kind of ['consumer', 'client'] as const)
        instance.usage.record(serial, { kind, id: consumer.id });
      const [readers = []] = await readersOf(instance);
      expect(readers.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
        { kind: 'client', reads: 1 },
        { kind: 'consumer', name: 'Sales', reads: 1 },
      ]);
      expect(readers.filter(({ name }) => name !== undefined)).toHaveLength(1);
    });

    test('what is 90 days old goes with the next reads that are written', async () => {
      const { publish, usage, clock } = openInstance();
      const serial = await publish('a', '1.0.0');
      usage.record(serial, shop);
      await usage.flush();
      await clock.advance(90 * DAY);
      usage.record(serial, { ...shop, id: 'other' });
      await usage.flush();
      expect(await db.all('SELECT reader_id FROM catalog_usage')).toEqual([{ readerId: 'other' }]);
    });

    test('a draft that is deleted takes its reads along, those that were not written yet, too', async () => {
      const instance = openInstance();
      const { catalog, usage } = instance;
      const draft = newDraft({ id: 'a', version: '2.0.0' });
      const { record } = await createVersion(catalog, owner, draft);
      const kept = await instance.publish('a', '1.0.0');
      usage.record(record.serial, shop);
      await usage.flush();
      usage.record(record.serial, shop);
      usage.record(kept, shop);
      const drop = { id: 'a', version: '2.0.0', ifMatch: { kind: 'any' } } as const;
      await deleteVersion(catalog, owner, drop);
      expect(await readersOf(instance)).toMatchObject([[{ ...shop, reads: 1 }]]);
    });

    test('what no store can hold in a name loses nobody else', async () => {
      const instance = openInstance();
      const serial = await instance.publish('a', '1.0.0');
      for (const id of ['a\0b', '\ud800', "x'); DROP TABLE catalog_usage; --"])
        instance.usage.record(serial, { kind: 'client', id });
      const [readers] = await readersOf(instance);
      expect(readers).toHaveLength(3);
    });

    test('a reader is told what it is to leave in its workspace, once for each version', async () => {
      const { catalog, usage, publish, clock } = openInstance();
      const serials = [await publish('a', '1.0.0'), await publish('b', '1.0.0')];
      for (const serial of serials) usage.record(serial, shop);
      await clock.advance(DAY);
      for (const serial of serials) usage.record(serial, shop);
      await deprecateVersion(catalog, owner, { id: 'a', version: '1.0.0' });
      expect(await listDeprecatedReads(catalog, 'default', shop)).toEqual([
        { id: 'a', version: '1.0.0' },
      ]);
      expect(await listDeprecatedReads(catalog, 'other', shop)).toEqual([]);
      expect(await listDeprecatedReads(catalog, 'default', { ...shop, kind: 'consumer' })).toEqual(
        [],
      );
    });

    test('a read on another instance that is written counts against retiring', async () => {
      const [one, two] = [openInstance(), openInstance()];
      const serial = await one.publish('a', '1.0.0');
      const version = { id: 'a', version: '1.0.0' };
      await deprecateVersion(one.catalog, owner, version);
      two.usage.record(serial, shop);
      await two.usage.close();
      await expect(retireVersion(one.catalog, owner, version)).rejects.toMatchObject({
        code: 'version-in-use',
        extensions: { readers: ['shop'] },
      });
    });
  });
}
