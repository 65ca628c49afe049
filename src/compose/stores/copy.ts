/** Copies a stopped store from one engine to the other. */
import { existsSync } from 'node:fs';
import { copyTables } from '#adapters/store/transfer/copy-tables.ts';
import type { TableDigest } from '#adapters/store/transfer/digest.ts';
import { listTables, refuseDifference } from '#adapters/store/transfer/tables.ts';
import type { Session } from '#adapters/store/session.ts';
import { type Environment, interpolate } from '#config/interpolate.ts';
import { ConfigError } from '#config/problems.ts';
import { secretKeyPath } from '#config/secret-key.ts';
import { type StoreAddress, storeUrl } from '#config/schema/values.ts';
import type { OnProgress } from '#shared/report.ts';
import { storeName } from '../server/start-error.ts';
import { named, withEmpty, withStopped } from './lend.ts';

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
  if (from.engine === to.engine)
    throw new ConfigError('The command line', [
      {
        path: 'TO',
        found: 'a store of the same engine',
        allowed:
          'one of the other engine (for SQLite there are backup and restore, for PostgreSQL pg_dump and pg_restore)',
      },
    ]);
  return withStopped(from, (session) =>
    withEmpty(to, async (target) => {
      const source = readOf(from, session);
      const tables = await listTables(from.engine === 'postgres' ? source : target);
      await refuseDifference(source, target);
      return copyTables({ source, target, tables, onProgress });
    }),
  );
}

/** Failures of what is read say so, in the middle of the work on the other store. */
function readOf(address: StoreAddress, session: Session): Session {
  return {
    ...session,
    all: (sql, values) => named(address, () => session.all(sql, values)),
    get: (sql, values) => named(address, () => session.get(sql, values)),
  };
}

/**
 * A store's URL of the command line, with `${NAME}` and `${file:PATH}` as in the configuration: so a
 * password need not be where every user of the machine can read it. `name` is the argument's.
 * @throws {ConfigError} with what is wrong, never with the value
 */
export function readStoreUrl(name: string, text: string, environment: Environment): StoreAddress {
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
