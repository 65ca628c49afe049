// Apart from `page.ts`: stores need no schemas, and the writing thread loads none.

/**
 * A page of rows that were read with one more than `limit`, which shows whether more follow: only then
 * there is a `last` one, behind which the next page starts.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
): { items: Row[]; last: Row | undefined } {
  const items = rows.slice(0, limit);
  return { items, last: rows.length > limit ? items.at(-1) : undefined };
}
