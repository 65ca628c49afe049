import type { Pagination } from '#shared/pagination/page.ts';

const PAGE_ITEMS = 100;

type Page<Item> = { items: readonly Item[]; pagination: Pagination };

/** Every item of a list that is read by pages. `list` gets no cursor for the first of them. */
export async function readAll<Item>(
  list: (page: { limit: number; cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, pagination } = await list({ limit: PAGE_ITEMS, cursor });
    all.push(...items);
    if (pagination.nextCursor === undefined) return all;
    cursor = pagination.nextCursor;
  }
}
