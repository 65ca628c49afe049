/** What the catalog's writes are measured against on SQLite: the same driver and durability. */
import { type Database, openDatabase } from '#adapters/sqlite/connection/database.ts';
import { spec } from './world.ts';
import type { RawWriter, RawWriters } from './raw-writer.ts';

const LIFECYCLE_COLUMNS = 'revision = 2, lifecycle = @lifecycle, updated_at = 2, published_at = 2';

/** Writers on a migrated file. */
export function openRawSqlite(file: string): RawWriters {
  const database = openDatabase({ path: file });
  return {
    sameRows: createSameRowsWriter(database),
    bareRow: createBareRowWriter(database),
    close: async () => database.close(),
  };
}

function createSameRowsWriter(database: Database): RawWriter {
  const prepare = (sql: string) => database.handle.prepare(sql);
  const artifact = prepare(`INSERT INTO catalog_artifact (workspace_id, id_folded, id, versions)
    VALUES ('raw', @id, @id, 1)`);
  const version = prepare(`INSERT INTO catalog_version (artifact_serial, workspace_id, version,
      order_key, is_listed, revision, lifecycle, type, source, owner, title, created_at, updated_at,
      terms)
    VALUES (@artifact, 'raw', '1.0.0', '1', 1, 1, 'DRAFT', 'API', 'INLINE', 'team-a', @id, 1, 1,
      @terms)`);
  const face = prepare(
    'UPDATE catalog_artifact SET listed_serial = @serial WHERE serial = @artifact',
  );
  const text = prepare('INSERT INTO catalog_spec (version_serial, text) VALUES (@serial, @text)');
  const publish = prepare(`UPDATE catalog_version SET ${LIFECYCLE_COLUMNS} WHERE serial = @serial`);
  const audit = prepare(`INSERT INTO audit (at, actor_kind, actor_subject, action, subject, changes)
    VALUES (1, 'system', 'bench', @action, @subject, '{"version":"1.0.0"}')`);
  return async (id) => {
    let serial = 0;
    inTransaction(database, () => {
      const made = Number(artifact.run({ id }).lastInsertRowid);
      const terms = `${id} artifact team a`;
      serial = Number(version.run({ artifact: made, id, terms }).lastInsertRowid);
      face.run({ serial, artifact: made });
      text.run({ serial, text: JSON.stringify(spec) });
      audit.run({ action: 'artifact.create', subject: `artifact/raw/${id}` });
    });
    inTransaction(database, () => {
      publish.run({ serial, lifecycle: 'PUBLISHED' });
      audit.run({ action: 'artifact.publish', subject: `artifact/raw/${id}` });
    });
  };
}

function createBareRowWriter(database: Database): RawWriter {
  database.handle.exec('CREATE TABLE bare (id TEXT PRIMARY KEY, lifecycle TEXT, spec TEXT)');
  const insert = database.handle.prepare('INSERT INTO bare VALUES (?, ?, ?)');
  const update = database.handle.prepare('UPDATE bare SET lifecycle = ? WHERE id = ?');
  return async (id) => {
    inTransaction(database, () => void insert.run(id, 'DRAFT', JSON.stringify(spec)));
    inTransaction(database, () => void update.run('PUBLISHED', id));
  };
}

function inTransaction({ handle }: Database, work: () => void): void {
  handle.transaction(work).immediate();
}
