/** Work on the store as a whole, which opens it in ways of its own: backup, restore, a copy to the other engine, another `secretKey`. */
import { existsSync } from 'node:fs';
import * as postgres from '#adapters/postgres/exclusive.ts';
import type { Statements } from '#shared/database.ts';
import { withStopped as withStoppedFile } from '#adapters/sqlite/transfer/exclusive.ts';
import { type StoreAddress, storeUrl } from '#config/schema/values.ts';
import {
  copyTables,
  listTables,
  refuseDifference,
  type TableCount,
} from '#adapters/copy-tables.ts';
import { type Environment, interpolate } from '#config/environment.ts';
import { ConfigError } from '#config/problems.ts';
import type { OnProgress } from '#shared/progress.ts';
import type { Config } from '#config/schema/schema.ts';
import type { LostReceipt } from '#partners/receipts/receipt.ts';
import { type Clock, toRfc3339 } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { VERSION } from '#shared/program.ts';
import { backUp } from '#adapters/sqlite/transfer/backup.ts';
import { restore } from '#adapters/sqlite/transfer/restore.ts';
import { replaceKey, secretKeyPath } from './secret-key.ts';
import { StartError, storeError, storeName } from './start-error.ts';

type Work<T> = (tx: Statements) => Promise<T>;

/**
 * Lets `work` have a stopped store for itself: the whole of what it writes is there afterwards, or nothing.
 * @throws {StartError} also when it is in use, is not there, or has another schema than today's
 */
function withStopped<T>(address: StoreAddress, work: Work<T>): Promise<T> {
  return named(address, () =>
    address.engine === 'sqlite'
      ? withStoppedFile(address.path, work)
      : postgres.withStopped(address.url.reveal(), work),
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

type CopyOptions = {
  /** `sqlite:PATH` or `postgres://…`, with `${NAME}` and `${file:PATH}` as in the configuration. */
  from: string;
  to: string;
  onProgress: OnProgress;
};

/** @throws {ConfigError} @throws {StartError} a store is in use, not empty, or fails */
export async function copyStore(options: CopyOptions, environment: Environment) {
  const from = readStoreUrl('FROM', options.from, environment);
  const to = readStoreUrl('TO', options.to, environment);
  if (from.engine !== 'sqlite') throw wrongEngine('FROM', 'sqlite:PATH');
  if (to.engine !== 'postgres') throw wrongEngine('TO', 'postgres://user:password@host/database');
  const tables = await copyBetween(from, to, options.onProgress);
  const keyFile = secretKeyPath(from.path);
  return {
    from: storeName(from),
    to: storeName(to),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    tables,
    ...(existsSync(keyFile) && { secretKeyFile: keyFile }),
  };
}

type AddressOf<Engine> = Extract<StoreAddress, { engine: Engine }>;

function wrongEngine(path: string, allowed: string): ConfigError {
  const found = 'a store of the other engine';
  const way =
    'a copy goes from SQLite to PostgreSQL (for SQLite there are backup and restore, for PostgreSQL pg_dump and pg_restore)';
  return new ConfigError('The command line', [{ path, found, allowed: `${allowed}: ${way}` }]);
}

function copyBetween(
  from: AddressOf<'sqlite'>,
  to: AddressOf<'postgres'>,
  onProgress: OnProgress,
): Promise<readonly TableCount[]> {
  return withStopped(from, (tx) =>
    named(to, () =>
      postgres.withEmpty(to.url.reveal(), async (target) => {
        const source = readOf(from, tx);
        await refuseDifference(source, target);
        return copyTables({ source, target, tables: await listTables(target), onProgress });
      }),
    ),
  );
}

/** Failures of what is read say so, in the middle of the work on the other store. */
function readOf(address: StoreAddress, tx: Statements): Statements {
  return {
    ...tx,
    all: (sql, values) => named(address, () => tx.all(sql, values)),
    get: (sql, values) => named(address, () => tx.get(sql, values)),
  };
}

/**
 * A store's URL of the command line, with `${NAME}` and `${file:PATH}` as in the configuration: so a
 * password need not be where every user of the machine can read it. `name` is the argument's.
 * @throws {ConfigError} with what is wrong, never with the value
 */
function readStoreUrl(name: string, text: string, environment: Environment): StoreAddress {
  const { value, problems: missing } = interpolate({ [name]: text }, environment);
  const parsed = storeUrl().safeParse((value as Record<string, unknown>)[name]);
  if (parsed.success && missing.length === 0) return parsed.data;
  const refused = (parsed.error?.issues ?? []).map(({ message }) => ({
    path: name,
    found: 'another text',
    allowed: message,
  }));
  throw new ConfigError('The command line', missing.length > 0 ? missing : refused);
}

/** The command `store rekey`. Nothing is changed when `onLoss` rejects. @throws {StartError} @throws {bad-request} */
export async function rekeyStore(
  config: Config,
  onLoss: (lost: readonly LostReceipt[]) => Promise<void>,
): Promise<void> {
  await withStopped(config.store.url, (tx) => replaceKey(tx, config, onLoss));
}

/** The command `backup`, while a service runs, too. @throws {StartError} */
export async function backUpStore(
  config: Config,
  clock: Pick<Clock, 'now'>,
  options: { file: string; isForced: boolean; onProgress: OnProgress },
) {
  const storePath = sqlitePath(config, 'backup', 'pg_dump');
  const origin = { at: clock.now(), version: VERSION };
  const tables = await named(config.store.url, () => backUp({ ...options, ...origin, storePath }));
  return {
    file: options.file,
    createdAt: toRfc3339(origin.at),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    tables,
    ...(!config.secretKey && { secretKeyFile: secretKeyPath(storePath) }),
  };
}

/** The command `restore`. @throws {StartError} */
export async function restoreStore(
  config: Config,
  { file, onProgress }: { file: string; onProgress: OnProgress },
) {
  const storePath = sqlitePath(config, 'restore', 'pg_restore');
  const { at, version, rows, migrated } = await named(config.store.url, () =>
    restore({ file, storePath, onProgress, log: silentLog }),
  );
  const keyFile = secretKeyPath(storePath);
  return {
    file,
    createdAt: toRfc3339(at),
    version,
    rows,
    migrated: migrated.map(({ name }) => name),
    ...(!config.secretKey && !existsSync(keyFile) && { missingSecretKeyFile: keyFile }),
  };
}

function sqlitePath({ store: { url } }: Config, command: string, tool: string): string {
  if (url.engine === 'sqlite') return url.path;
  throw new StartError(
    `trackport ${command} works on SQLite. A PostgreSQL database has tools of its own: use ${tool}.`,
  );
}
