import { listCatalog } from '#catalog/reading/read-catalog.ts';
import type { Catalog } from '#catalog/index.ts';
import { readView } from '#catalog/version/version-view.ts';
import { type BenchRow, median } from '../row.ts';
import type { BenchEngine } from '../stores.ts';
import { openFilled, SMALL, wordOf } from './fill.ts';
import { caller, openCatalog, timeCalls } from './world.ts';

/** Artifacts of the large store, calls of a round, and rounds. */
export type CatalogReadScale = { artifacts: number; calls: number; rounds: number };

/** Reads, pages and searches in a large store, against one of 1,000 artifacts. */
export async function measureCatalogReads(
  { newStore }: BenchEngine,
  scale: CatalogReadScale,
): Promise<BenchRow[]> {
  const small = await openFilled(await newStore(), SMALL);
  const large = await openFilled(await newStore(), scale.artifacts);
  try {
    const catalogs = { small: openCatalog(small), large: openCatalog(large) };
    const sizes = [scale.artifacts, SMALL].map((count) => count.toLocaleString('en')).join(' ÷ ');
    const rowOf = async (what: string, work: Work, atMost: number): Promise<BenchRow> => ({
      what: `time of a ${what}, ${sizes} artifacts`,
      value: await compare(catalogs, scale, work),
      wanted: { atMost },
      source: `clock, ${scale.calls} calls in turns`,
    });
    return [
      await rowOf('catalog read', readOne, 1.3),
      await rowOf('page of the catalog', listPage, 1.3),
      await rowOf('catalog search', searchPage, 3),
    ];
  } finally {
    for (const store of [small, large]) await store.close();
  }
}

type Work = (catalog: Catalog, call: number) => Promise<unknown>;

/** The n-th of the first thousand, which both stores have. */
const readOne: Work = (catalog, call) =>
  readView(catalog.db, caller, { id: `artifact-${(call * 37) % SMALL}`, withSpec: true });

const listPage: Work = (catalog) => listCatalog(catalog, caller, { limit: 50 });

/** One word of ten and one of a hundred: as many hits as a page, in either store. */
const searchPage: Work = (catalog, call) =>
  listCatalog(catalog, caller, {
    limit: 50,
    q: `${wordOf(call)} team-${call % 20}`,
  });

async function compare(
  { small, large }: { small: Catalog; large: Catalog },
  { calls, rounds }: CatalogReadScale,
  work: Work,
): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const few = await timeCalls(calls, (call) => work(small, call));
    const many = await timeCalls(calls, (call) => work(large, call));
    if (round > 0) ratios.push(many / few); // the first warms up
  }
  return median(ratios);
}
