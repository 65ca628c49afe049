import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createArtifactStore } from '#adapters/sqlite/artifact/artifact-store.ts';
import { openDatabase } from '#adapters/sqlite/database.ts';
import type { Database } from '#adapters/sqlite/database.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { createSpecChecker } from '#adapters/threads/spec-checker.ts';
import { createCatalog } from '#catalog/index.ts';
import type { Catalog } from '#catalog/index.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { ArtifactStore } from '#catalog/artifact-store.ts';
import type { Caller } from '#catalog/version/version-view.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/page.ts';
import { median, ratioRow } from '../row.ts';
import type { BenchRow } from '../row.ts';

/** How many artifacts the big store has, how many calls a round has, and how many rounds there are. */
export type CatalogBenchScale = { artifacts: number; calls: number; rounds: number };

const SMALL = 1000;
const BATCH = 1000;
const WORDS = 'payment order stock invoice carrier refund basket tariff ledger claim'.split(' ');
const caller: Caller = { workspaceId: 'default', actor: { kind: 'system', subject: 'bench' } };

const spec = {
  openapi: '3.1.0',
  info: { title: 'Bench', version: '1.0.0' },
  paths: Object.fromEntries(
    WORDS.map((word) => [`/${word}`, { get: { responses: { 200: { description: word } } } }]),
  ),
};

/**
 * Create and publish against raw transactions on the same driver with the same durability; then
 * reads, lists and searches in a store of 1,000 artifacts against one of many.
 */
export async function measureCatalog(scale: CatalogBenchScale): Promise<BenchRow[]> {
  return [...(await measureWrites(scale)), ...(await measureReads(scale))];
}

async function measureWrites({ calls, rounds }: CatalogBenchScale): Promise<BenchRow[]> {
  return withDatabase(async (database) => {
    const catalog = openCatalog(database);
    const same = createSameRowsWriter(database);
    const bare = createBareRowWriter(database);
    const shares = { same: [] as number[], bare: [] as number[] };
    for (let round = 0; round <= rounds; round += 1) {
      const ours = await timeCalls(calls, (call) => createAndPublish(catalog, `a${round}-${call}`));
      const sameMs = await timeCalls(calls, (call) => same(`s${round}-${call}`));
      const bareMs = await timeCalls(calls, (call) => bare(`b${round}-${call}`));
      if (round === 0) continue; // warms up
      shares.same.push(sameMs / ours);
      shares.bare.push(bareMs / ours);
    }
    const what = 'create and publish ÷ raw better-sqlite3 transactions';
    return [
      ratioRow(`${what}, the same rows`, median(shares.same), { atLeast: 0.5 }),
      { what: `${what}, one bare row`, measured: median(shares.bare).toFixed(2) },
    ];
  });
}

async function createAndPublish(catalog: Catalog, id: string): Promise<void> {
  await catalog.create(caller, {
    id,
    version: '1.0.0',
    type: 'API',
    owner: 'team-a',
    title: `Artifact ${id}`,
    source: 'INLINE',
    specText: JSON.stringify(spec),
  });
  await catalog.changeLifecycle(caller, { id, version: '1.0.0', action: 'publish' });
}

type RawWriter = (id: string) => void;

const LIFECYCLE_COLUMNS = 'revision = 2, lifecycle = @lifecycle, updatedAt = 2, publishedAt = 2';

/** Two transactions that write what the catalog writes, without a rule, a check or an answer. */
function createSameRowsWriter(database: Database): RawWriter {
  const prepare = (sql: string) => database.handle.prepare(sql);
  const artifact = prepare(`INSERT INTO catalog_artifact (workspaceId, idFolded, id, versions)
    VALUES ('raw', @id, @id, 1)`);
  const version = prepare(`INSERT INTO catalog_version (artifactSerial, workspaceId, version,
      orderKey, isFace, revision, lifecycle, type, source, owner, title, createdAt, updatedAt)
    VALUES (@artifact, 'raw', '1.0.0', '1', 1, 1, 'DRAFT', 'API', 'INLINE', 'team-a', @id, 1, 1)`);
  const face = prepare('UPDATE catalog_artifact SET faceSerial = @serial WHERE serial = @artifact');
  const text = prepare('INSERT INTO catalog_spec (versionSerial, text) VALUES (@serial, @text)');
  const terms = ['artifact', 'version'].map((kind) =>
    prepare(`INSERT INTO catalog_${kind}_text (rowid, terms) VALUES (@${kind}, @terms)`),
  );
  const publish = prepare(`UPDATE catalog_version SET ${LIFECYCLE_COLUMNS} WHERE serial = @serial`);
  const audit = prepare(`INSERT INTO audit (at, actorKind, actorSubject, action, subject, changes)
    VALUES (1, 'system', 'bench', @action, @subject, '{"version":"1.0.0"}')`);
  return (id) => {
    let serial = 0;
    database.transaction(() => {
      const made = Number(artifact.run({ id }).lastInsertRowid);
      serial = Number(version.run({ artifact: made, id }).lastInsertRowid);
      face.run({ serial, artifact: made });
      text.run({ serial, text: JSON.stringify(spec) });
      const rows = { artifact: made, version: serial, terms: `${id} artifact team a` };
      for (const statement of terms) statement.run(rows);
      audit.run({ action: 'artifact.create', subject: `artifact/raw/${id}` });
    });
    database.transaction(() => {
      publish.run({ serial, lifecycle: 'PUBLISHED' });
      audit.run({ action: 'artifact.publish', subject: `artifact/raw/${id}` });
    });
  };
}

/** Two transactions with one write each: no index, no search, no audit. */
function createBareRowWriter(database: Database): RawWriter {
  database.handle.exec('CREATE TABLE bare (id TEXT PRIMARY KEY, lifecycle TEXT, spec TEXT)');
  const insert = database.handle.prepare('INSERT INTO bare VALUES (?, ?, ?)');
  const update = database.handle.prepare('UPDATE bare SET lifecycle = ? WHERE id = ?');
  return (id) => {
    database.transaction(() => insert.run(id, 'DRAFT', JSON.stringify(spec)));
    database.transaction(() => update.run('PUBLISHED', id));
  };
}

async function measureReads(scale: CatalogBenchScale): Promise<BenchRow[]> {
  return withDatabase((small) =>
    withDatabase(async (big) => {
      await fill(small, SMALL);
      await fill(big, scale.artifacts);
      const stores = { small: openCatalog(small), big: openCatalog(big) };
      const against = `${scale.artifacts} ÷ ${SMALL} artifacts`;
      const read = await compare(stores, scale, readOne);
      const list = await compare(stores, scale, listPage);
      const search = await compare(stores, scale, searchPage);
      return [
        ratioRow(`time of a read, ${against}`, read, { atMost: 1.3 }),
        ratioRow(`time of a page of the list, ${against}`, list, { atMost: 1.3 }),
        ratioRow(`time of a search, ${against}`, search, { atMost: 3 }),
      ];
    }),
  );
}

type Work = (catalog: Catalog, call: number) => Promise<unknown>;

/** The n-th of the first thousand, which both stores have. */
const readOne: Work = (catalog, call) =>
  catalog.read(caller, { id: `artifact-${(call * 37) % SMALL}`, withSpec: true });

const listPage: Work = (catalog) => catalog.list(caller, { limit: 50 });

/** One word of ten and one of a hundred: as many hits as a page, in either store. */
const searchPage: Work = (catalog, call) =>
  catalog.list(caller, {
    limit: 50,
    q: `${wordOf(call)} team-${call % 20}`,
  });

async function compare(
  { small, big }: { small: Catalog; big: Catalog },
  { calls, rounds }: CatalogBenchScale,
  work: Work,
): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const [smallMs, bigMs] = [await repeat(small, calls, work), await repeat(big, calls, work)];
    if (round > 0) ratios.push(bigMs / smallMs);
  }
  return median(ratios);
}

async function repeat(catalog: Catalog, calls: number, work: Work): Promise<number> {
  return timeCalls(calls, (call) => work(catalog, call));
}

/** Published artifacts, a thousand at once, which share a commit. */
async function fill(database: Database, artifacts: number): Promise<void> {
  const store = createArtifactStore(database);
  for (let first = 0; first < artifacts; first += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, index) => first + index);
    const made = await Promise.all(numbers.map((number) => insertDraft(store, number)));
    await Promise.all(
      made.map((record) => {
        const next = { ...record, lifecycle: 'PUBLISHED' as const, revision: 2 };
        return store.change(
          caller.workspaceId,
          { former: record, next: { ...next, publishedAt: record.createdAt } },
          { audit: auditOf(record.createdAt, 'publish') },
        );
      }),
    );
  }
  database.handle.pragma('wal_checkpoint(TRUNCATE)');
}

async function insertDraft(store: ArtifactStore, number: number): Promise<VersionRecord> {
  const at = 1_700_000_000_000 + number;
  const inserted = await store.insert(
    caller.workspaceId,
    {
      id: `artifact-${number}`,
      type: 'API',
      owner: `team-${number % 20}`,
      title: `The ${wordOf(number)} interface number ${number}`,
      description: `Answers questions about ${wordOf(number + 3)} and ${wordOf(number + 7)}.`,
      source: 'INLINE',
      groupPath: `area-${number % 50}/${wordOf(number)}`,
      findings: [],
      createdAt: at,
      updatedAt: at,
      specText: JSON.stringify(spec),
    },
    { audit: auditOf(at, 'create') },
  );
  if (inserted.kind !== 'inserted') throw new Error(`artifact ${number}: ${inserted.kind}`);
  return inserted.stored.record;
}

function auditOf(at: number, verb: 'create' | 'publish') {
  return { at, actor: caller.actor, action: `artifact.${verb}` as const };
}

function wordOf(number: number): string {
  return WORDS[number % WORDS.length] ?? '';
}

function openCatalog(database: Database): Catalog {
  return createCatalog({
    store: createArtifactStore(database),
    clock: systemClock,
    cursors: createCursorSealer(Buffer.alloc(32, 1)),
    checkSpec: createSpecChecker({ clock: systemClock }),
    rules: () => ({ types: [], sources: [], findings: 'block' }),
  });
}

/** Milliseconds of `calls` calls, one after another. */
async function timeCalls(calls: number, work: (call: number) => unknown): Promise<number> {
  const start = performance.now();
  for (let call = 0; call < calls; call += 1) await work(call);
  return performance.now() - start;
}

async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(path.join(tmpdir(), 'trackport-bench-'));
  const database = openDatabase({ path: path.join(directory, 'trackport.db') });
  try {
    migrate({ database, log: silentLog });
    return await work(database);
  } finally {
    database.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
