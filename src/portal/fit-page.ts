import type { PortalPage } from './page.ts';

/** What a page's own part may have, so that page and files are less than 50 KB. */
const BODY_BYTES_MAX = 34_000;

const SHARES = [1, 1 / 2, 1 / 4, 1 / 8] as const;
const LEAST_SHARE = 1 / 16;

/**
 * A page with as many rows as there is room for: where texts of people are long, and markup multiplies
 * them, `make` is asked for half of them, and half again. Lists lead on from the last row they show.
 */
export async function fitPage(make: (share: number) => Promise<PortalPage>): Promise<PortalPage> {
  for (const share of SHARES) {
    const page = await make(share);
    if (Buffer.byteLength(page.body.toString()) <= BODY_BYTES_MAX) return page;
  }
  return make(LEAST_SHARE);
}

/** So many of `rows`, at least one. */
export function shareOf(rows: number, share: number): number {
  return Math.max(1, Math.floor(rows * share));
}
