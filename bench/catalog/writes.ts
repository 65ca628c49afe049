import type { Catalog } from '#catalog/index.ts';
import { type BenchRow, median } from '../row.ts';
import { type BenchEngine, openBenchStore } from '../stores.ts';
import { openRawPostgres } from './raw-postgres.ts';
import { openRawSqlite } from './raw-sqlite.ts';
import type { RawWriters } from './raw-writer.ts';
import { caller, openCatalog, spec, timeCalls } from './world.ts';

export type CatalogWriteScale = { calls: number; rounds: number };

/** Create and publish against raw transactions on the same driver with the same durability. */
export async function measureCatalogWrites(
  { newStore }: BenchEngine,
  scale: CatalogWriteScale,
): Promise<BenchRow[]> {
  const url = await newStore();
  const store = await openBenchStore(url);
  const raw = url.startsWith('sqlite:')
    ? openRawSqlite(url.slice('sqlite:'.length))
    : await openRawPostgres(url);
  try {
    return await compare(await openCatalog(store), raw, scale);
  } finally {
    await raw.close();
    await store.close();
  }
}

async function compare(
  catalog: Catalog,
  raw: RawWriters,
  { calls, rounds }: CatalogWriteScale,
): Promise<BenchRow[]> {
  const shares = { same: [] as number[], bare: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const ours = await timeCalls(calls, (call) => createAndPublish(catalog, `a${round}-${call}`));
    const sameMs = await timeCalls(calls, (call) => raw.sameRows(`s${round}-${call}`));
    const bareMs = await timeCalls(calls, (call) => raw.bareRow(`b${round}-${call}`));
    if (round === 0) continue; // warms up
    shares.same.push(sameMs / ours);
    shares.bare.push(bareMs / ours);
  }
  const source = `clock, ${calls} calls in turns`;
  return [
    {
      what: 'create and publish ÷ raw transactions of the driver, the same rows',
      value: median(shares.same),
      wanted: { atLeast: 0.5 },
      source,
    },
    {
      what: 'create and publish ÷ raw transactions of the driver, one bare row',
      value: median(shares.bare),
      source,
    },
  ];
}

async function createAndPublish(catalog: Catalog, id: string): Promise<void> {
  await catalog.create(caller, {
    id,
    version: '1.0.0',
    type: 'API',
    owner: 'team-a',
    title: `Artifact ${id}`,
    source: 'INLINE',
    specText: JSON.stringify(spec),
  });
  await catalog.changeLifecycle(caller, { id, version: '1.0.0', action: 'publish' });
}
