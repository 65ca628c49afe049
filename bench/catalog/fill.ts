import { openDatabase } from '#adapters/postgres/database.ts';
import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { coreSources, coreTypes } from '#catalog/version/artifact.ts';
import type { Catalog, CatalogRules } from '#catalog/index.ts';
import { createVersion } from '#catalog/version/write-version.ts';
import type { Database } from '#shared/database.ts';
import type { Store } from '#compose/store.ts';
import { openBenchStore } from '../stores.ts';
import { caller, spec, WORDS } from './world.ts';

/** Artifacts of the small store; the large one has a multiple of it. */
export const SMALL = 1000;
/** As many as PostgreSQL has connections for; SQLite puts what comes at once into one commit. */
const AT_ONCE = { postgres: 8, sqlite: 1000 };

/** A store with so many published artifacts, a multiple of a thousand. */
export async function openFilled(storeUrl: string, artifacts: number): Promise<Store> {
  const store = await openBenchStore(storeUrl);
  const { database: db } = store;
  if (storeUrl.startsWith('sqlite:')) await insert(db, artifacts, AT_ONCE.sqlite);
  else {
    await insert(db, SMALL, AT_ONCE.postgres);
    await multiply(storeUrl, artifacts / SMALL);
  }
  return store;
}

async function insert(db: Database, artifacts: number, atOnce: number): Promise<void> {
  for (let first = 0; first < artifacts; first += atOnce) {
    const numbers = Array.from({ length: atOnce }, (_, index) => first + index);
    await Promise.all(numbers.map((number) => insertPublished(db, number)));
  }
}

/** One of ten words, in turn. */
export function wordOf(number: number): string {
  return WORDS[number % WORDS.length] ?? '';
}

const rules: CatalogRules = {
  types: coreTypes,
  sources: coreSources,
  public: [],
  findings: 'warn',
  compatibility: 'off',
};

/** At a time of its own, by the use cases, without threads for its spec. */
async function insertPublished(db: Database, number: number): Promise<void> {
  const at = 1_700_000_000_000 + number;
  const catalog: Partial<Catalog> = {
    db,
    clock: { now: () => at },
    checkSpec: async () => [],
    diffSpecs: async () => ({ changes: [], truncated: false }),
    rules: () => rules,
  };
  const { record } = await createVersion(catalog as Catalog, caller, {
    id: `artifact-${number}`,
    type: 'API',
    owner: `team-${number % 20}`,
    title: `The ${wordOf(number)} interface number ${number}`,
    description: `Answers questions about ${wordOf(number + 3)} and ${wordOf(number + 7)}.`,
    source: 'INLINE',
    groupPath: `area-${number % 50}/${wordOf(number)}`,
    specText: JSON.stringify(spec),
  });
  await publishVersion(catalog as Catalog, caller, { id: record.id, version: record.version });
}

/** Further than the serials of the first thousand reach. */
const SERIAL_STEP = 10 * SMALL;

/**
 * Copies the thousand that the store itself has written, with numbers of their own in ids, titles
 * and terms: one by one they would take minutes.
 */
async function multiply(url: string, times: number): Promise<void> {
  const database = openDatabase({ url });
  try {
    const copies = `generate_series(1, ${times - 1}) AS copy`;
    await database.transaction(async (session) => {
      await session.exec('SET LOCAL statement_timeout = 0');
      await session.exec(`
        INSERT INTO catalog_artifact (serial, workspace_id, id_folded, id, listed_serial, versions)
        SELECT serial + copy * ${SERIAL_STEP}, workspace_id, new_id, new_id,
          listed_serial + copy * ${SERIAL_STEP}, versions
        FROM catalog_artifact, ${copies},
          LATERAL (SELECT 'artifact-' || (split_part(id, '-', 2)::int + copy * ${SMALL}) AS new_id)`);
      await session.exec(`
        INSERT INTO catalog_version (serial, artifact_serial, workspace_id, version, order_key, is_listed,
          revision, lifecycle, type, source, owner, title, group_path, created_at, updated_at,
          published_at, findings, description, terms)
        SELECT version.serial + copy * ${SERIAL_STEP}, artifact_serial + copy * ${SERIAL_STEP},
          version.workspace_id, version, order_key, is_listed, revision, lifecycle, type, source, owner,
          replace(title, old, new), group_path, created_at, updated_at, published_at, findings,
          description, array_to_tsvector(array_replace(tsvector_to_array(terms), old, new))
        FROM catalog_version AS version
        JOIN catalog_artifact AS artifact ON artifact.serial = artifact_serial, ${copies},
          LATERAL (SELECT split_part(id, '-', 2) AS old) AS former,
          LATERAL (SELECT (old::int + copy * ${SMALL})::text AS new) AS later
        WHERE artifact.serial < ${SERIAL_STEP}`);
      await session.exec(`
        INSERT INTO catalog_spec (version_serial, text)
        SELECT version_serial + copy * ${SERIAL_STEP}, text FROM catalog_spec, ${copies}`);
    });
    await database.exec('VACUUM ANALYZE'); // as its autovacuum does in time
  } finally {
    await database.close();
  }
}
