/** Copies a stopped store from one engine to the other. */
import { existsSync } from 'node:fs';

import * as postgres from '#adapters/postgres/transfer/copy.ts';
import * as sqlite from '#adapters/sqlite/transfer/copy.ts';
import type { Environment } from '#config/interpolate.ts';
import { ConfigError } from '#config/problems.ts';
import { readStoreUrl } from '#config/read-store-url.ts';
import { secretKeyPath } from '#config/secret-key.ts';
import type { StoreAddress } from '#config/store-url.ts';
import type { OnProgress } from '#shared/progress.ts';
import { copyTables } from '#shared/store/transfer/copy-tables.ts';
import type { TableDigest } from '#shared/store/transfer/digest.ts';
import { refuseDifference } from '#shared/store/transfer/match-tables.ts';
import type { ReadableStore } from '#shared/store/transfer/table.ts';

import { storeError, storeName } from '../server/start-error.ts';

type CopyOptions = {
  /** `sqlite:PATH` or `postgres://…`, with `${NAME}` and `${file:PATH}` as in the configuration. */
  from: string;
  to: string;
  onProgress: OnProgress;
};

type SqliteAddress = Extract<StoreAddress, { engine: 'sqlite' }>;
type PostgresAddress = Extract<StoreAddress, { engine: 'postgres' }>;

/** @throws {ConfigError} @throws {StartError} a store is in use, not empty, or fails */
export async function copyStore(options: CopyOptions, environment: Environment) {
  const from = readStoreUrl('FROM', options.from, environment);
  const to = readStoreUrl('TO', options.to, environment);
  const tables = await copyBetween(from, to, options.onProgress);
  const keyFile = from.engine === 'sqlite' ? secretKeyPath(from.path) : undefined;
  return {
    from: storeName(from),
    to: storeName(to),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    tables,
    ...(keyFile !== undefined && existsSync(keyFile) && { secretKeyFile: keyFile }),
  };
}

function copyBetween(
  from: StoreAddress,
  to: StoreAddress,
  onProgress: OnProgress,
): Promise<readonly TableDigest[]> {
  if (from.engine === 'sqlite' && to.engine === 'postgres') return toServer(from, to, onProgress);
  if (from.engine === 'postgres' && to.engine === 'sqlite') return toFile(from, to, onProgress);
  throw new ConfigError('The command line', [
    {
      path: 'TO',
      found: 'a store of the same engine',
      allowed:
        'one of the other engine (for SQLite there are backup and restore, for PostgreSQL pg_dump and pg_restore)',
    },
  ]);
}

function toServer(from: SqliteAddress, to: PostgresAddress, onProgress: OnProgress) {
  return named(from, () =>
    sqlite.readStopped(from.path, (source, shapes) =>
      named(to, () =>
        postgres.fillEmpty(to.url.reveal(), (target, tables) => {
          refuseDifference(tables, shapes);
          return copyTables({ source: readFrom(from, source), target, tables, onProgress });
        }),
      ),
    ),
  );
}

function toFile(from: PostgresAddress, to: SqliteAddress, onProgress: OnProgress) {
  return named(from, () =>
    postgres.readStopped(from.url.reveal(), (source, tables) =>
      named(to, () =>
        sqlite.fillEmpty(to.path, (target, shapes) => {
          refuseDifference(tables, shapes);
          return copyTables({ source: readFrom(from, source), target, tables, onProgress });
        }),
      ),
    ),
  );
}

/** Failures say of which store they are. */
async function named<T>(address: StoreAddress, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, address);
  }
}

function readFrom(address: StoreAddress, source: ReadableStore): ReadableStore {
  return {
    count: (table) => named(address, () => source.count(table)),
    lastNumbers: () => named(address, () => source.lastNumbers()),
    read: async function* (table) {
      try {
        yield* source.read(table);
      } catch (error) {
        throw storeError(error, address);
      }
    },
  };
}
