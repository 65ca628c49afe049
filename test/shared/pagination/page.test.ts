import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createCursorSealer, type PageRequest, readPage } from '#shared/pagination/page.ts';
import { keyOf } from '../../support/keys.ts';

const cursors = createCursorSealer(keyOf(9));
const list = { kind: 'numbers/1', binding: 'w', position: z.int() };

/** One page of 1 to 5 in their order. */
const page = (filter: object | undefined, request: PageRequest) =>
  readPage(cursors, list, { filter, ...request }, async ({ limit, after = 0 }) =>
    [1, 2, 3, 4, 5]
      .slice(after, after + limit)
      .map((position) => ({ item: `n${position}`, position })),
  );

describe('a page of a list', () => {
  test('leads to the next one exactly where more follows', async () => {
    const { items, pagination } = await page({}, { limit: 3 });
    expect(items).toEqual(['n1', 'n2', 'n3']);
    const { nextCursor: cursor } = pagination;
    expect(pagination).toEqual({ hasMore: true, nextCursor: expect.any(String) });
    const rest = { items: ['n4', 'n5'], pagination: { hasMore: false } };
    expect(await page({}, { limit: 2, cursor })).toStrictEqual(rest);
    expect(await page({}, { limit: 3, cursor })).toStrictEqual(rest);
  });

  test.each([
    [undefined, 3],
    [{ who: 'me' }, [3, { who: 'me' }]],
  ])('has the cursors of earlier versions for the filter %j', async (filter, sealed) => {
    const cursor = cursors.seal('numbers/1', 'w', sealed);
    expect((await page(filter, { limit: 3 })).pagination.nextCursor).toBe(cursor);
    expect((await page(filter, { limit: 1, cursor })).items).toEqual(['n4']);
  });

  test.each([
    ['a position of another shape', cursors.seal('numbers/1', 'w', [[3], { who: 'me' }])],
    ['another filter', cursors.seal('numbers/1', 'w', [3, { who: 'you' }])],
    ['another binding', cursors.seal('numbers/1', '', [3, { who: 'me' }])],
  ])('is refused to a cursor of %s', async (_what, cursor) => {
    await expect(page({ who: 'me' }, { limit: 1, cursor })).rejects.toMatchObject({
      code: 'invalid-cursor',
    });
  });
});
