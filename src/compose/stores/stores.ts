import type { ServerInfo } from '#adapters/postgres/connection/server-info.ts';
import { createChangeLog } from '#leads/instance-changes/change-log.ts';
import { createFingerprint } from './key-fingerprint.ts';
import { createWriteCheck } from './write-check.ts';
import type { SearchVersions } from '#catalog/reading/search.ts';
import type { WorkerLease } from '#partners/worker/background-work.ts';
import type { Clock } from '#shared/clock.ts';
import type { LeadStore } from '#leads/lead-store.ts';
import type { Database } from '#shared/database.ts';
import { claimLearnt } from '#partners/receipts/standing-deletions.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import { newUuid } from '#shared/ids.ts';
import { type Migration, readApplied } from '#adapters/migrations.ts';

/** What the stores of every engine are made with. */
export type StoresOptions = {
  /** `owner/name` of the tracker's repository. */
  repository: string;
  clock: Clock;
};

/** A store that is open and has the newest schema, whatever engine it has. */
export type OpenStore = ReturnType<typeof createOpenStore> & {
  /** What its server is; only where it has one. @throws {store-unavailable} */
  readServer?(): Promise<ServerInfo>;
  /** What was applied just now. */
  migrated: readonly Migration[];
  /** Resolves when writes are made; they wait until then. @throws {store-unavailable} */
  opened(): Promise<void>;
  /** Resolves when all that was asked for is written. */
  close(): Promise<void>;
};

export type Stores = ReturnType<typeof createStores>;

/** What engines have each in a way of their own. */
export type StoreEngine = {
  database: Database;
  /** How it reads the catalog's full text. */
  search: SearchVersions;
  /** The right to work of an instance of this id. */
  workerLease: (instance: string) => WorkerLease;
};

/** What is the same on every engine. */
export function createOpenStore(engine: StoreEngine, clock: Clock) {
  const { database } = engine;
  return {
    database,
    stores: (options: StoresOptions) => createStores(engine, options),
    /** Every migration that it has. @throws {store-unavailable} */
    readApplied: () => readApplied(database),
    /** Whether deliveries can be stored. */
    writes: createWriteCheck(database, clock),
    /**
     * By which it knows the `secretKey` that it was filled with: with none yet, that is the offered one from now
     * on. Of several that are offered at once one is taken. @throws {store-unavailable}
     */
    fingerprint: createFingerprint(database),
  };
}

/** The ports of one store. Each is made when it is asked for: a command needs few of them. */
function createStores(
  { database, search, workerLease }: StoreEngine,
  { repository, clock }: StoresOptions,
) {
  return {
    catalog: () => ({ db: database, search }),
    /** Each has an id of its own, and so takes what another one appends for changes of another instance. */
    instanceChanges: () => createChangeLog(database, { instanceId: newUuid() }),
    leads: {
      db: database,
      repository: repository.toLowerCase(),
      clock,
      claimLearnt,
    } satisfies LeadStore,
    idempotency: () => createIdempotency({ db: database, clock }),
    workerLease,
  };
}
