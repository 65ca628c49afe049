import { unavailable } from '#shared/database.ts';
import {
  fingerprintOf,
  otherKeyError,
  readSecretKey,
  resolveSecretKey,
} from '#config/secret-key.ts';
import type { Config } from '#config/schema/schema.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import type { Log } from '#shared/log.ts';
import { createCursorSealer, type CursorSealer } from '#shared/pagination/page.ts';

import { storeError } from './server/start-error.ts';
import type { OpenStore, Stores } from './stores/stores.ts';

/** The open store with what every area needs of it. */
export type Store = Omit<OpenStore, 'stores'> & {
  stores: Stores;
  /** Resolves when the store can be read, and is that of our `secretKey`. @throws {store-unavailable} */
  checkReading(): Promise<void>;
  /** The bytes of `secretKey`; only sub-keys of it are used. */
  secretKey: Buffer;
  /** Seals and opens the cursors of every list. */
  cursors: CursorSealer;
};

export type StoreDeps = {
  config: Pick<Config, 'store' | 'secretKey'> & { tracker: Pick<Config['tracker'], 'repository'> };
  clock: Clock;
  log: Log;
  /** That which writes to SQLite in a service, and what runs in it. */
  thread?: { module?: URL };
};

/** The key of the lead directory's hashes, and of those by which a repeat is known. */
export function directoryKeyOf({ secretKey }: Pick<Store, 'secretKey'>): Buffer {
  return deriveKey(secretKey, 'directory');
}

/** A driver is loaded where it is needed. */
async function openEngine({ config, ...deps }: StoreDeps): Promise<OpenStore> {
  const { url } = config.store;
  if (url.engine === 'postgres') {
    const { openPostgresStore } = await import('./stores/postgres.ts');
    return openPostgresStore({ ...deps, url: url.url.reveal() });
  }
  const { openSqliteStore } = await import('./stores/sqlite.ts');
  return openSqliteStore({ ...deps, path: url.path });
}

/** Opens the store and brings it to the newest schema. @throws {StartError} @throws {ConfigError} it is of another `secretKey` */
export async function openStore(deps: StoreDeps): Promise<Store> {
  const { config } = deps;
  const { url } = config.store;
  try {
    const opened = await openEngine(deps);
    try {
      return toStore(deps, opened, await agreeOnKey(config, opened));
    } catch (error) {
      await opened.close();
      throw error;
    }
  } catch (error) {
    throw storeError(error, url);
  }
}

/** The open store, whose key is `secretKey`. */
export function toStore(
  { config, clock }: Pick<StoreDeps, 'clock'> & { config: Pick<StoreDeps['config'], 'tracker'> },
  opened: OpenStore,
  secretKey: Buffer,
): Store {
  const { repository } = config.tracker;
  return {
    ...opened,
    stores: opened.stores({ repository, clock }),
    checkReading: async () => {
      if (isOf(secretKey, await opened.fingerprint())) return;
      throw unavailable('The store is of another secretKey now.');
    },
    secretKey,
    cursors: createCursorSealer(deriveKey(secretKey, 'cursors')),
  };
}

/** A new store takes the configured key. @throws {ConfigError} it was filled with another one */
async function agreeOnKey(config: StoreDeps['config'], store: OpenStore): Promise<Buffer> {
  const stored = await store.fingerprint();
  const key = stored ? readSecretKey(config) : resolveSecretKey(config);
  if (key && isOf(key, stored ?? (await store.fingerprint(fingerprintOf(key))))) return key;
  throw otherKeyError(config, key);
}

function isOf(secretKey: Buffer, fingerprint: Buffer | undefined): boolean {
  return fingerprint?.equals(fingerprintOf(secretKey)) === true;
}
