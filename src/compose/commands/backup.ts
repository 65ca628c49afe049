/** Backup and restore: they work on the store's file, and open it in ways of their own. */
import { existsSync } from 'node:fs';

import { backUp } from '#adapters/sqlite/transfer/backup.ts';
import { restore } from '#adapters/sqlite/transfer/restore.ts';
import { secretKeyPath } from '#config/secret-key.ts';
import type { Config } from '#config/schema/schema.ts';
import { type Clock, toRfc3339 } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { VERSION } from '#shared/program.ts';
import type { OnProgress } from '#shared/report.ts';

import { StartError, storeError } from '../start-error.ts';

type BackupOptions = { file: string; isForced: boolean; onProgress: OnProgress };
type RestoreOptions = { file: string; onProgress: OnProgress };

/** The command `backup`. Nothing is opened before it works. */
export function openBackup(config: Config, clock: Pick<Clock, 'now'>) {
  return {
    services: { backUp: (options: BackupOptions) => runBackup(config, clock, options) },
    close: () => Promise.resolve(),
  };
}

/** The command `restore`. Nothing is opened before it works. */
export function openRestore(config: Config) {
  return {
    services: { restore: (request: RestoreOptions) => runRestore(config, request) },
    close: () => Promise.resolve(),
  };
}

async function runBackup(config: Config, clock: Pick<Clock, 'now'>, options: BackupOptions) {
  const storePath = sqlitePath(config, 'backup', 'pg_dump');
  const origin = { at: clock.now(), version: VERSION };
  const work = backUp({ ...options, ...origin, storePath });
  const tables = await work.catch((error: unknown) => {
    throw storeError(error, config.store.url);
  });
  return {
    file: options.file,
    createdAt: toRfc3339(origin.at),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    tables,
    ...(!config.secretKey && { secretKeyFile: secretKeyPath(storePath) }),
  };
}

async function runRestore(config: Config, { file, onProgress }: RestoreOptions) {
  const storePath = sqlitePath(config, 'restore', 'pg_restore');
  const request = { file, storePath, onProgress, log: silentLog };
  const { at, version, rows, migrated } = await restore(request).catch((error: unknown) => {
    throw storeError(error, config.store.url);
  });
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
