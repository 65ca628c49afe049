import { describe, expect, test } from 'vitest';
import { createClaimStore } from '#adapters/store/claim/claim-store.ts';
import { listRemovals, type RemovalListQuery } from '#leads/claims/claimed-leads.ts';
import { DAY } from '#shared/clock.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock } from '../../support/clock.ts';
import { claimLeads, entry, openedDirectory, REPOSITORY } from '../../support/directory.ts';
import { temporaryDatabase } from '../../support/stores.ts';

const consumer = { consumerId: 'c1', labels: [] as string[] };

async function setUp() {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const directory = await openedDirectory(database);
  const deps = {
    claims: createClaimStore(database, { repository: REPOSITORY }),
    cursors: createCursorSealer(Buffer.alloc(32, 1)),
    clock,
  };
  const remove = async (number: number, labels: string[] = ['approved']): Promise<void> => {
    await directory.put([entry(number, { labels })]);
    await claimLeads(database, { numbers: [number], event: number, at: clock.now() });
  };
  const list = (query: Partial<RemovalListQuery> = {}, visibility = consumer) =>
    listRemovals(deps, { limit: 50, ...query }, visibility);
  return { clock, list, remove };
}

describe('removals', () => {
  test('hold the id and the instant, and nothing else', async () => {
    const { list, remove } = await setUp();
    await remove(7);
    expect(await list()).toEqual({
      items: [{ id: '7', removedAt: '2026-03-01T12:00:00Z' }],
      pagination: { hasMore: false },
    });
  });

  test('can be walked page by page while more come, without gap or repeat', async () => {
    const { list, remove } = await setUp();
    for (const number of [5, 3, 4]) await remove(number);
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.pagination.nextCursor;
      if (ids.length === 2) await remove(9);
    } while (cursor !== undefined);
    expect(ids).toEqual(['5', '3', '4', '9']);
  });

  test('are kept for 30 days, whatever `since` says', async () => {
    const { clock, list, remove } = await setUp();
    await remove(1);
    await clock.advance(30 * DAY);
    expect((await list({ since: 0 })).items).toHaveLength(1);
    await clock.advance(1);
    expect((await list({ since: 0 })).items).toEqual([]);
  });

  test('are those of leads that the grant covered', async () => {
    const { list, remove } = await setUp();
    await remove(1, ['approved', 'eu']);
    await remove(2, ['approved']);
    const { items } = await list({}, { consumerId: 'c1', labels: ['EU'] });
    expect(items.map(({ id }) => id)).toEqual(['1']);
  });

  test('carry `since` in their cursor', async () => {
    const { clock, list, remove } = await setUp();
    await remove(1);
    await clock.advance(1000);
    const since = clock.now();
    for (const number of [2, 3]) await remove(number);
    const { pagination } = await list({ limit: 1, since });
    const cursor = pagination.nextCursor ?? '';
    for (const beside of [{}, { since }])
      expect((await list({ cursor, ...beside })).items.map(({ id }) => id)).toEqual(['3']);
    await expect(list({ cursor, since: since + 1 })).rejects.toMatchObject({
      errors: [{ parameter: 'since', code: 'differs' }],
    });
  });

  test('refuse a cursor of another consumer, grant or `since`', async () => {
    const { list, remove } = await setUp();
    for (const number of [1, 2]) await remove(number);
    const { pagination } = await list({ limit: 1 });
    const query = { limit: 1, cursor: pagination.nextCursor ?? '' };
    for (const [changes, visibility] of [
      [{}, { consumerId: 'c2', labels: [] }],
      [{}, { consumerId: 'c1', labels: ['eu'] }],
      [{ since: 0 }, consumer],
      [{ cursor: `${query.cursor}A` }, consumer],
    ] as const)
      await expect(
        list({ ...query, ...changes }, { ...visibility, labels: [...visibility.labels] }),
      ).rejects.toMatchObject({ code: 'invalid-cursor' });
  });
});
