/** An empty SQLite store with the newest schema, made once a run: to copy it takes a small part of what migrating does. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { applyMigrations, shippedMigrations } from '#adapters/migrations.ts';
import { silentLog } from '#shared/log.ts';
import { scratchFolder } from './at-exit.ts';

declare module 'vitest' {
  interface ProvidedContext {
    migratedStore: string;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = scratchFolder('migrated');
  const file = path.join(folder.path, 'trackport.db');
  const database = openDatabase({ path: file });
  await applyMigrations({ database, log: silentLog }, shippedMigrations('sqlite'));
  await database.close();
  provide('migratedStore', file);
  return () => folder[Symbol.dispose]();
}

/** Writes one there. */
export function writeMigratedStore(file: string): string {
  writeFileSync(file, readFileSync(inject('migratedStore')), { mode: 0o600 });
  return file;
}
