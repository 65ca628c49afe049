import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { fillAudit } from '../../adapters/sqlite/transfer/support.ts';
import { scratchFolder } from '../../support/at-exit.ts';
import { writeMigratedStore } from '../../support/migrated-store.ts';

/** Writes stores of so many audit entries: it is filled once. */
export function createLargeStores(rows: number): (file: string) => Promise<void> {
  let filled: Promise<Buffer> | undefined;
  return async (file) => writeFile(file, await (filled ??= fill(rows)));
}

async function fill(rows: number): Promise<Buffer> {
  using folder = scratchFolder('large');
  const file = writeMigratedStore(path.join(folder.path, 'trackport.db'));
  const database = openDatabase({ path: file });
  fillAudit(database, rows);
  await database.close();
  return readFileSync(file);
}
