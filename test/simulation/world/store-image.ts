import { readFileSync } from 'node:fs';
import path from 'node:path';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { silentLog } from '#shared/log.ts';

/** As PostgreSQL has it: several instances take turns at the work. */
const LEASE = `
  CREATE TABLE worker_lease (one INTEGER PRIMARY KEY CHECK (one = 1), holder TEXT, until NOT NULL, is_asked INTEGER NOT NULL DEFAULT 0);
  INSERT INTO worker_lease (one, until) VALUES (1, '-infinity')`;

/** The bytes of an empty store with the newest schema. */
export async function makeStoreImage(folder: string): Promise<Buffer> {
  const file = path.join(folder, 'empty.db');
  const database = openDatabase({ path: file });
  await migrate({ database, log: silentLog });
  await database.exec(LEASE);
  await database.close();
  return readFileSync(file);
}
