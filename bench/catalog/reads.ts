import type { ArtifactStore } from '#catalog/artifact-store.ts';
import type { Catalog } from '#catalog/index.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { ServiceStore } from '../../src/compose/store.ts';
import { median } from '../row.ts';
import type { BenchRow } from '../row.ts';
import { openBenchStore } from '../stores.ts';
import type { BenchEngine } from '../stores.ts';
import { caller, openCatalog, spec, timeCalls, WORDS } from './world.ts';

/** How many artifacts the large store has, how many calls a round has, and how many rounds there are. */
export type CatalogReadScale = { artifacts: number; calls: number; rounds: number };

const SMALL = 1000;
const BATCH = 1000;

/** Reads, pages and searches in a large store, against one of 1,000 artifacts. */
export async function measureCatalogReads(
  { newStore }: BenchEngine,
  scale: CatalogReadScale,
): Promise<BenchRow[]> {
  const small = await fill(await newStore(), SMALL);
  const large = await fill(await newStore(), scale.artifacts);
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
  catalog.read(caller, { id: `artifact-${(call * 37) % SMALL}`, withSpec: true });

const listPage: Work = (catalog) => catalog.list(caller, { limit: 50 });

/** One word of ten and one of a hundred: as many hits as a page, in either store. */
const searchPage: Work = (catalog, call) =>
  catalog.list(caller, {
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

/** Published artifacts, a thousand at once, which share a commit where the store can. */
async function fill(storeUrl: string, artifacts: number): Promise<ServiceStore> {
  const store = await openBenchStore(storeUrl);
  const port = store.stores.artifacts();
  for (let first = 0; first < artifacts; first += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, index) => first + index);
    await Promise.all(numbers.map((number) => insertPublished(port, number)));
  }
  return store;
}

async function insertPublished(store: ArtifactStore, number: number): Promise<void> {
  const record = await insertDraft(store, number);
  const at = record.createdAt;
  const next = { ...record, lifecycle: 'PUBLISHED' as const, revision: 2, publishedAt: at };
  const audit = auditOf(at, 'publish');
  await store.change(caller.workspaceId, { former: record, next }, { audit });
}

async function insertDraft(store: ArtifactStore, number: number): Promise<VersionRecord> {
  const at = 1_700_000_000_000 + number;
  const inserted = await store.insert(
    caller.workspaceId,
    {
      id: `artifact-${number}`,
      type: 'API',
      owner: `team-${number % 20}`,
      title: `The ${wordOf(number)} interface number ${number}`,
      description: `Answers questions about ${wordOf(number + 3)} and ${wordOf(number + 7)}.`,
      source: 'INLINE',
      groupPath: `area-${number % 50}/${wordOf(number)}`,
      findings: [],
      createdAt: at,
      updatedAt: at,
      specText: JSON.stringify(spec),
    },
    { audit: auditOf(at, 'create') },
  );
  if (inserted.kind !== 'inserted') throw new Error(`artifact ${number}: ${inserted.kind}`);
  return inserted.stored.record;
}

function auditOf(at: number, verb: 'create' | 'publish') {
  return { at, actor: caller.actor, action: `artifact.${verb}` as const };
}

function wordOf(number: number): string {
  return WORDS[number % WORDS.length] ?? '';
}
