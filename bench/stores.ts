/** Empty stores of both engines, and what is opened on them inside the bench. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import pg from 'pg';
import { systemClock } from '#shared/clock.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { silentLog } from '#shared/log.ts';
import { openServiceStore, openStore, type Store } from '#compose/store.ts';
import { scratchFolder } from '../test/support/at-exit.ts';
import { startPostgres } from '../test/support/postgres/server.ts';
import type { BenchRow, StoreName } from './row.ts';

/** The repository of every configuration of the bench. */
export const REPOSITORY = 'acme/leads';

/** Folder and stores of one part of the bench. */
export type BenchEngine = {
  name: StoreName;
  /** For files of this part; removed after it. */
  folder: string;
  /** The `store.url` of a new, empty store, which is gone with the engine. */
  newStore: () => Promise<string>;
};

/** Measures with SQLite, then with PostgreSQL. */
export async function onBothStores(
  measure: (engine: BenchEngine) => Promise<BenchRow[]>,
): Promise<BenchRow[]> {
  return [...(await onSqlite(measure)), ...(await onPostgres(measure))];
}

/** Measures with SQLite files in a folder of their own. */
export async function onSqlite(
  measure: (engine: BenchEngine) => Promise<BenchRow[]>,
): Promise<BenchRow[]> {
  return inFolder(async (folder) => {
    let made = 0;
    const newStore = async (): Promise<string> =>
      `sqlite:${path.join(folder, `${(made += 1)}.db`)}`;
    return named('SQLite', await measure({ name: 'SQLite', folder, newStore }));
  });
}

export type PostgresOptions = {
  /** For a server of the bench's own: what its processes find in their environment. */
  environment?: NodeJS.ProcessEnv;
};

/**
 * Measures with databases on the server of `TRACKPORT_BENCH_POSTGRES_URL`, which are dropped in the
 * end, or on a server of its own that waits for the disk.
 */
export async function onPostgres(
  measure: (engine: BenchEngine) => Promise<BenchRow[]>,
  { environment = {} }: PostgresOptions = {},
): Promise<BenchRow[]> {
  const { TRACKPORT_BENCH_POSTGRES_URL: given } = process.env;
  const server =
    given === undefined
      ? await startPostgres({ isDurable: true, environment })
      : { url: given, stop: async () => undefined };
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => undefined);
  const databases: string[] = [];
  const newStore = async (): Promise<string> => {
    const name = `trackport_bench_${randomBytes(6).toString('hex')}`;
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    databases.push(name);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  try {
    await client.connect();
    return await inFolder(async (folder) =>
      named('PostgreSQL', await measure({ name: 'PostgreSQL', folder, newStore })),
    );
  } finally {
    for (const name of databases) await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.end();
    await server.stop();
  }
}

function named(store: StoreName, rows: readonly BenchRow[]): BenchRow[] {
  return rows.map((row) => ({ ...row, store }));
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  using folder = scratchFolder('bench');
  return await work(folder.path);
}

/** The store as a service has it, with the newest schema. The caller closes it. */
export function openBenchStore(storeUrl: string): Promise<Store> {
  return openServiceStore(openingOf(storeUrl));
}

/** The store as a command has it, beside the service that works on it. The caller closes it. */
export function openBesideService(storeUrl: string): Promise<Store> {
  return openStore(openingOf(storeUrl));
}

function openingOf(storeUrl: string) {
  return {
    config: {
      store: { url: toStoreUrl(storeUrl) },
      secretKey: new Secret(Buffer.alloc(32, 1).toString('base64')),
      tracker: { repository: REPOSITORY },
      server: { stopDelay: 0 },
    },
    clock: systemClock,
    log: silentLog,
  };
}

function toStoreUrl(url: string) {
  return url.startsWith('sqlite:')
    ? { engine: 'sqlite' as const, path: url.slice('sqlite:'.length) }
    : { engine: 'postgres' as const, url: new Secret(url) };
}
