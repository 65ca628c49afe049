import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { createReadRecord } from '#catalog/usage/record-reads.ts';
import {
  type Catalog,
  type CatalogOptions,
  type CatalogRules,
  createCatalog,
} from '#catalog/index.ts';
import { searchSqlite } from '#catalog/reading/search.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock, type FakeClock } from './clock.ts';
import { temporaryDatabase } from './stores.ts';
import { specThreads } from './threads.ts';

/** The least that a version says of itself. */
export const petstore = { id: 'petstore', type: 'API', owner: 'team-a', title: 'Pet store' };

/** A document of operations that read, one at each path. */
export const petApi = (...paths: string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: Object.fromEntries(
    paths.map((path) => [path, { get: { responses: { 200: { description: 'Well.' } } } }]),
  ),
});

/** Configuration of a test. */
export const catalogRules: CatalogRules = {
  types: ['DASHBOARD'],
  sources: ['CRAWLER'],
  findings: 'block',
  compatibility: 'warn',
};

/** The catalog on `db`, else on one of its own. */
export function buildCatalog(
  facts: Partial<CatalogOptions> = {},
  db: SqliteDatabase = temporaryDatabase(),
): {
  catalog: Catalog;
  db: SqliteDatabase;
  clock: FakeClock;
} {
  const clock = createFakeClock();
  const catalog = createCatalog({
    db,
    search: searchSqlite,
    clock,
    cursors: createCursorSealer(Buffer.alloc(32, 1)),
    ...specThreads,
    usage: createReadRecord({ db, clock, log: silentLog }),
    rules: () => catalogRules,
    ...facts,
  });
  return { catalog, db, clock };
}
