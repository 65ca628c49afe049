import { performance } from 'node:perf_hooks';
import { openDatabase as openPostgres } from '#adapters/postgres/connection/database.ts';
import { readDirectoryView } from '#adapters/store/directory/view.ts';
import type { Session } from '#adapters/store/session.ts';
import { openDatabase as openSqlite } from '#adapters/sqlite/connection/database.ts';
import {
  type DirectoryEntry,
  hashIdentity,
  type LeadDirectory,
  rulesCheckOf,
} from '#leads/directory/lead-directory.ts';
import { type BenchRow, median } from '../row.ts';
import { type BenchEngine, openBenchStore, REPOSITORY } from '../stores.ts';

export type LookupScale = {
  /** Rows of the large directory. */
  directory: number;
  rounds: number;
  /** Look-ups of one round. */
  lookups: number;
};

const FEW = 1000;
const FILL_PAGE = 10_000;
const key = Buffer.alloc(32, 1);
const rules = { approvedLabel: 'approved', priorityLabelPrefix: '', form: [], portalAuthors: [] };

/** To find a person in a large directory, against a small one. */
export async function measureLookups(
  { newStore }: BenchEngine,
  { directory: many, rounds, lookups }: LookupScale,
): Promise<BenchRow[]> {
  const small = await fill(await newStore(), FEW);
  const large = await fill(await newStore(), many);
  try {
    const ratios: number[] = [];
    for (const filled of [small, large]) await timeLookups(filled, lookups);
    for (let round = 0; round < rounds; round += 1) {
      const few = await timeLookups(small, lookups);
      ratios.push((await timeLookups(large, lookups)) / few);
    }
    const sizes = [many, FEW].map((count) => count.toLocaleString('en')).join(' ÷ ');
    return [
      {
        what: `directory look-up, ${sizes} leads`,
        value: median(ratios),
        wanted: { atMost: 1.3 },
        source: `clock, ${lookups} look-ups in turns`,
      },
    ];
  } finally {
    for (const filled of [small, large]) await filled.close();
  }
}

type Lookup = {
  /** Numbers of the leads with this identity. */
  find: (hash: Buffer) => Promise<readonly number[]>;
  close: () => Promise<void>;
};

type Filled = Lookup & { count: number };

async function fill(storeUrl: string, count: number): Promise<Filled> {
  const store = await openBenchStore(storeUrl);
  try {
    await putPeople(store.stores.directory(), count);
  } finally {
    await store.close();
  }
  const lookup = storeUrl.startsWith('sqlite:')
    ? openSqliteLookup(storeUrl.slice('sqlite:'.length))
    : await openPostgresLookup(storeUrl);
  return { ...lookup, count };
}

async function putPeople(directory: LeadDirectory, count: number): Promise<void> {
  await directory.open(1, rulesCheckOf(rules, key), 0);
  for (let from = 0; from < count; from += FILL_PAGE) {
    const length = Math.min(FILL_PAGE, count - from);
    const page = Array.from({ length }, (_, at): DirectoryEntry => ({
      number: from + at + 1,
      createdAt: 0,
      updatedAt: 0,
      isApproved: true,
      labels: ['approved'],
      identities: [{ kind: 'email', hash: hashOf(from + at) }],
    }));
    await directory.putCrawled(page, 0);
  }
}

function openSqliteLookup(file: string): Lookup {
  const database = openSqlite({ path: file });
  database.truncateLog();
  return { find: (hash) => findLeads(database, hash), close: async () => database.close() };
}

async function openPostgresLookup(url: string): Promise<Lookup> {
  const database = openPostgres({ url });
  await database.exec('VACUUM ANALYZE'); // as its autovacuum does in time
  return {
    find: (hash) => findLeads(database, hash),
    close: () => database.close(),
  };
}

const hashOf = (index: number): Buffer =>
  hashIdentity(key, { kind: 'email', value: `person-${index}@example.com` });

/** Milliseconds for many look-ups of people all over the directory. */
async function timeLookups({ find, count }: Filled, lookups: number): Promise<number> {
  const startedAt = performance.now();
  for (let turn = 0; turn < lookups; turn += 1) {
    const index = (turn * 7919) % count;
    const [found] = await find(hashOf(index));
    if (found !== index + 1) throw new Error(`the directory does not find person ${index}`);
  }
  return performance.now() - startedAt;
}

async function findLeads(session: Session, hash: Buffer): Promise<readonly number[]> {
  return (await readDirectoryView(session, REPOSITORY, [{ kind: 'email', hash }])).find(hash);
}
