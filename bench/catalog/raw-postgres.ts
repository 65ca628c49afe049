/** What the catalog's writes are measured against on PostgreSQL: prepared statements of `pg`. */
import pg from 'pg';
import { spec } from './world.ts';
import type { RawWriter, RawWriters } from './raw-writer.ts';

/** Writers on a migrated database, over one connection. */
export async function openRawPostgres(url: string): Promise<RawWriters> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE TABLE bare (id text PRIMARY KEY, lifecycle text, spec text)');
  return {
    sameRows: createSameRowsWriter(client),
    bareRow: createBareRowWriter(client),
    close: () => client.end(),
  };
}

type Row = { serial: string };
type Statement = (values: readonly unknown[]) => Promise<Row | undefined>;

/** Prepared at its first use. */
function prepare(client: pg.Client, name: string, text: string): Statement {
  return async (values) => (await client.query<Row>({ name, text, values: [...values] })).rows[0];
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  const result = await work();
  await client.query('COMMIT');
  return result;
}

function createSameRowsWriter(client: pg.Client): RawWriter {
  const artifact = prepare(
    client,
    'artifact',
    `INSERT INTO catalog_artifact (workspace_id, id_folded, id, versions)
     VALUES ('raw', $1, $1, 1) RETURNING serial`,
  );
  const version = prepare(
    client,
    'version',
    `INSERT INTO catalog_version (artifact_serial, workspace_id, version, order_key, is_listed,
       revision, lifecycle, type, source, owner, title, created_at, updated_at, terms)
     VALUES ($1, 'raw', '1.0.0', '1', true, 1, 'DRAFT', 'API', 'INLINE', 'team-a', $2, 1, 1,
       array_to_tsvector($3)) RETURNING serial`,
  );
  const face = prepare(
    client,
    'face',
    'UPDATE catalog_artifact SET listed_serial = $1 WHERE serial = $2',
  );
  const text = prepare(
    client,
    'text',
    'INSERT INTO catalog_spec (version_serial, text) VALUES ($1, $2)',
  );
  const audit = prepare(
    client,
    'audit',
    `INSERT INTO audit (at, actor_kind, actor_subject, action, subject, changes)
     VALUES (1, 'system', 'bench', $1, $2, '{"version":"1.0.0"}')`,
  );
  const publish = prepare(
    client,
    'publish',
    `UPDATE catalog_version SET revision = 2, lifecycle = 'PUBLISHED', updated_at = 2,
       published_at = 2 WHERE serial = $1`,
  );
  return async (id) => {
    const serial = await inTransaction(client, async () => {
      const made = (await artifact([id]))?.serial;
      const row = await version([made, id, [id, 'artifact', 'team', 'a']]);
      await face([row?.serial, made]);
      await text([row?.serial, JSON.stringify(spec)]);
      await audit(['artifact.create', `artifact/raw/${id}`]);
      return row?.serial;
    });
    await inTransaction(client, async () => {
      await publish([serial]);
      await audit(['artifact.publish', `artifact/raw/${id}`]);
    });
  };
}

function createBareRowWriter(client: pg.Client): RawWriter {
  const insert = prepare(client, 'bare', 'INSERT INTO bare VALUES ($1, $2, $3)');
  const update = prepare(client, 'publishBare', 'UPDATE bare SET lifecycle = $1 WHERE id = $2');
  return async (id) => {
    await inTransaction(client, () => insert([id, 'DRAFT', JSON.stringify(spec)]));
    await inTransaction(client, () => update(['PUBLISHED', id]));
  };
}
