import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { applyMigrations, shippedMigrations } from '#adapters/migrations.ts';
import { searchSqlite } from '#catalog/reading/search.ts';
import { silentLog } from '#shared/log.ts';
import { openEngine } from './engine.ts';
import { createInspector, type Look } from './inspector.ts';
import type { Stores } from './store.ts';

/** As PostgreSQL has it: several instances take turns at the work, and tell each other what they learn. */
const SEVERAL_INSTANCES = `
  CREATE TABLE change_batch (position INTEGER PRIMARY KEY, instance_id TEXT NOT NULL, changes TEXT NOT NULL) STRICT;
  CREATE TABLE worker_lease (one INTEGER PRIMARY KEY CHECK (one = 1), holder TEXT, until NOT NULL, is_asked INTEGER NOT NULL DEFAULT 0);
  INSERT INTO worker_lease (one, until) VALUES (1, '-infinity')`;

const ORPHANS = {
  'a row without its parent': 'PRAGMA foreign_key_check',
  'a lead of no event': 'SELECT event FROM event_lead WHERE event NOT IN (SELECT id FROM event)',
  'a lead that its event does not name': `
    SELECT number FROM event_lead WHERE NOT EXISTS (SELECT 1 FROM event, json_each(event.lead_ids)
      WHERE event.id = event_lead.event AND CAST(value AS INTEGER) = event_lead.number)`,
};

/** Files in a folder, each a copy of one that is empty. */
export async function openSqliteStores(folder: string): Promise<Stores> {
  const image = await makeImage(folder);
  return {
    create: (seed) => {
      const file = path.join(folder, `${seed}.db`);
      writeFileSync(file, image, { mode: 0o600 });
      const handle = new BetterSqlite3(file, { readonly: true });
      const other = new BetterSqlite3(file, { timeout: 0 });
      return {
        inspector: createInspector(createLook(handle)),
        search: searchSqlite,
        open: (owner, deps) => openEngine(file, owner, deps),
        lock: () => lock(other),
        orphans: ORPHANS,
        placesOf: (text) =>
          [file, `${file}-wal`].filter((name) => readFileSync(name).includes(text)),
        close: () => {
          handle.close();
          other.close();
          for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
        },
      };
    },
  };
}

function createLook(handle: BetterSqlite3.Database): Look {
  const statements = new Map<string, BetterSqlite3.Statement>();
  return <Row>(sql: string, ...values: unknown[]) => {
    const statement = statements.get(sql) ?? handle.prepare(sql);
    statements.set(sql, statement);
    return statement.all(...values) as Row[];
  };
}

function lock(handle: BetterSqlite3.Database): (() => void) | undefined {
  if (handle.inTransaction) return undefined;
  try {
    handle.exec('BEGIN IMMEDIATE');
  } catch {
    return undefined;
  }
  return () => void handle.exec('ROLLBACK');
}

/** The bytes of an empty store with the newest schema. */
async function makeImage(folder: string): Promise<Buffer> {
  const file = path.join(folder, 'empty.db');
  const database = openDatabase({ path: file });
  await applyMigrations({ database, log: silentLog }, shippedMigrations('sqlite'));
  await database.exec(SEVERAL_INSTANCES);
  await database.close();
  return readFileSync(file);
}
