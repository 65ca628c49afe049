import { expect, test } from 'vitest';
import { paginationOf } from '#shared/pagination/page.ts';
import { readAll } from '#cli/command.ts';

test('a list is read to its end, page by page and in order', async () => {
  const pages = [['a', 'b'], [], ['c']];
  const cursors: (string | undefined)[] = [];
  const all = await readAll(async ({ cursor }) => {
    cursors.push(cursor);
    const at = Number(cursor ?? 0);
    const next = at + 1 < pages.length ? String(at + 1) : undefined;
    return { items: pages[at] ?? [], pagination: paginationOf(next) };
  });
  expect(all).toEqual(['a', 'b', 'c']);
  expect(cursors).toEqual([undefined, '1', '2']);
});
