/** Opens the store of either engine. A driver is loaded where it is needed. */
import type { KeyObject } from 'node:crypto';
import { statSync } from 'node:fs';
import type { ServerInfo } from '#adapters/postgres/server.ts';
import {
  applyMigrations,
  type Migration,
  readApplied,
  shippedMigrations,
} from '#adapters/migrations.ts';
import { createWriteCheck, type WriteCheck } from '#adapters/write-check.ts';
import type { SearchVersions } from '#catalog/reading/search.ts';
import type { Config } from '#config/schema/schema.ts';
import {
  createChangeLog,
  createInstanceChanges,
  type InstanceChanges,
  noOthers,
} from '#leads/instance-changes.ts';
import type { DirectoryStore } from '#leads/lead-store.ts';
import { claimLearnt } from '#partners/receipts/standing-deletions.ts';
import { createWorkerLease, ownWork, type WorkerLease } from '#partners/worker/background-work.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { type Database, unavailable } from '#shared/database.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createCursorSealer, type CursorSealer } from '#shared/pagination/page.ts';
import { agreeOnKey, isKeyOf } from './secret-key.ts';
import { storeError, StoreMissing } from './start-error.ts';

/** A store that is open and has the newest schema. */
type Engine = {
  database: Database;
  /** Searches the catalog's full text. */
  search: SearchVersions;
  /** The right to work of an instance of this id. */
  workerLease: (instance: string) => WorkerLease;
  /** Changes that an instance of this id and the others on the store tell each other. */
  instanceChanges: (instance: string) => InstanceChanges;
  /** Describes its server, where it has one. @throws {store-unavailable} */
  readServer?: () => Promise<ServerInfo>;
  /** Applied just now. */
  migrated: readonly Migration[];
  /** Resolves when all that was asked for is written, and whoever waits for its file may have it. */
  close(): Promise<void>;
};

/** The open store with what every area needs of it. */
export type Store = Engine & {
  /** Every migration that it has. @throws {store-unavailable} */
  readApplied: () => ReturnType<typeof readApplied>;
  /** Watches whether deliveries can be stored. */
  writes: WriteCheck;
  /** Leads as they are stored. `clock`: a service's is the tracker's, a command knows this machine's alone. */
  leadsBy: (clock: Clock) => DirectoryStore;
  /** Resolves when the store can be read, and is that of our `secretKey`. @throws {store-unavailable} */
  checkReading(): Promise<void>;
  /** The bytes of `secretKey`; only sub-keys of it are used. */
  secretKey: Buffer;
  /** The sub-key of the lead directory's hashes, and of those by which a repeat is known. */
  directoryKey: KeyObject;
  /** Seals and opens the cursors of every list. */
  cursors: CursorSealer;
};

type StoreConfig = Pick<Config, 'store' | 'secretKey'> & {
  tracker: Pick<Config['tracker'], 'repository'>;
};

type Opening = {
  config: StoreConfig;
  clock: Clock;
  log: Log;
  /** Refuse a store that nobody has made yet in place of making it. Default: make it. */
  mustExist?: boolean;
};

export type ServiceOpening = Opening & {
  config: { server: Pick<Config['server'], 'stopDelay'> };
  /** Ends the start: the wait for another service that has the file, or before anything listens. */
  stopping?: AbortSignal | undefined;
};

/**
 * Opens the store and brings it to the newest schema.
 * @throws {StartError} @throws {StoreMissing} it must exist @throws {ConfigError} it is of another `secretKey`
 */
export function openStore(opening: Opening): Promise<Store> {
  return openBy(opening, (path) => openSqlite(path, opening));
}

/**
 * Opens the store for a service. A SQLite file has one at a time: it waits for the one that it takes the place of, and
 * has a thread write, so that no reader waits for a disk. @throws {StartError} naming who has the file
 */
export function openServiceStore(opening: ServiceOpening): Promise<Store> {
  return openBy(opening, (path) => openServiceSqlite(path, opening));
}

async function openBy(
  opening: Opening,
  openFile: (path: string) => Promise<Engine>,
): Promise<Store> {
  const { config, clock } = opening;
  const { url } = config.store;
  try {
    const engine = await (url.engine === 'postgres'
      ? openPostgres(url.url.reveal(), opening)
      : openFile(url.path));
    try {
      const secretKey = await agreeOnKey(config, engine.database);
      return createStore(engine, { repository: config.tracker.repository, secretKey, clock });
    } catch (error) {
      await engine.close();
      throw error;
    }
  } catch (error) {
    throw storeError(error, url);
  }
}

/** The store of an engine that is open. `repository` is the tracker's as it is configured. */
export function createStore(
  engine: Engine,
  { repository, secretKey, clock }: { repository: string; secretKey: Buffer; clock: Clock },
): Store {
  const { database: db } = engine;
  return {
    ...engine,
    readApplied: () => readApplied(db),
    writes: createWriteCheck(db, clock),
    leadsBy: (by) => ({ db, repository: repository.toLowerCase(), clock: by, claimLearnt }),
    checkReading: async () => {
      if (await isKeyOf(db, secretKey)) return;
      throw unavailable('The store is of another secretKey now.');
    },
    secretKey,
    directoryKey: deriveKey(secretKey, 'directory'),
    cursors: createCursorSealer(deriveKey(secretKey, 'cursors')),
  };
}

async function openPostgres(url: string, opening: Opening): Promise<Engine> {
  const { config, clock, log } = opening;
  const { openDatabase } = await import('#adapters/postgres/database.ts');
  const { readServerInfo, refuseUnfit } = await import('#adapters/postgres/server.ts');
  const { searchPostgres } = await import('#catalog/reading/search.ts');
  const database = openDatabase({ url });
  try {
    await database.refuseSharedConnections();
    await refuseUnfit(database);
    if (opening.mustExist && (await readApplied(database)).length === 0)
      throw new StoreMissing(config.store.url);
    const migrated = await applyMigrations({ database, log }, shippedMigrations('postgres'));
    return {
      database,
      search: searchPostgres,
      workerLease: (instance) => createWorkerLease({ database, instance, clock }),
      instanceChanges: (instanceId) =>
        createInstanceChanges({ changes: createChangeLog(database, { instanceId }), clock, log }),
      readServer: () => readServerInfo(database),
      migrated,
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openSqlite(path: string, opening: Opening): Promise<Engine> {
  const { openDatabase, refuseOtherFile } = await import('#adapters/sqlite/database.ts');
  const { guard } = await import('#adapters/sqlite/errors.ts');
  // Of a file that cannot be looked at, or whose log is there, whoever opens it tells more.
  const isMissing = () =>
    [path, `${path}-wal`].every((file) => !statSync(file, { throwIfNoEntry: false }));
  if (opening.mustExist && guard(isMissing)) throw new StoreMissing(opening.config.store.url);
  await refuseOtherFile(path);
  const migrated = await migrateFile(path, opening);
  return toSqliteEngine(openDatabase({ path }), migrated);
}

async function migrateFile(path: string, { log }: Opening): Promise<readonly Migration[]> {
  const { openDatabase } = await import('#adapters/sqlite/database.ts');
  const database = openDatabase({ path });
  try {
    return await applyMigrations({ database, log }, shippedMigrations('sqlite'));
  } finally {
    await database.close();
  }
}

/**
 * Looks at the file before a lock leaves another one beside it, locks it for this service alone until the store is
 * closed, migrates it, and opens it with the thread that writes. A crash of that is thrown where nobody can catch it,
 * which ends the process: what was asked for may be written or not, and a reader must not go on as if nothing was.
 */
async function openServiceSqlite(path: string, opening: ServiceOpening): Promise<Engine> {
  const { lockForService } = await import('#adapters/sqlite/service-lock.ts');
  const { openThreadedDatabase, refuseOtherFile } = await import('#adapters/sqlite/database.ts');
  const { isDiskFailure } = await import('#adapters/sqlite/errors.ts');
  const onCrash = (error: Error): never => {
    opening.log.error(errorFields(error), isDiskFailure(error) ? DISK_FAILED : THREAD_CRASHED);
    throw error;
  };
  await refuseOtherFile(path);
  const cleanup = new AsyncDisposableStack();
  const close = () => cleanup.disposeAsync();
  try {
    const { stopDelay: stopDelayMs } = opening.config.server;
    const lock = await lockForService(path, { ...opening, stopDelayMs });
    cleanup.defer(() => lock.release());
    const migrated = await migrateFile(path, opening);
    const database = openThreadedDatabase({ path, onCrash });
    cleanup.defer(() => database.close());
    return { ...(await toSqliteEngine(database, migrated)), close };
  } catch (error) {
    await close().catch(() => undefined); // the start's error says more
    throw error;
  }
}

const DISK_FAILED = 'the disk of the store has failed, and nobody can say what is on it';
const THREAD_CRASHED = 'the writing thread has crashed';

async function toSqliteEngine(database: Database, migrated: readonly Migration[]): Promise<Engine> {
  const { searchSqlite } = await import('#catalog/reading/search.ts');
  return {
    database,
    search: searchSqlite,
    // One service has the file: it always works, and tells nobody else.
    workerLease: () => ownWork,
    instanceChanges: () => noOthers,
    migrated,
    close: () => database.close(),
  };
}
