import { expect, test } from 'vitest';
import type { PostgresDatabase } from '#adapters/postgres/database.ts';
import { temporaryPostgres } from './database.ts';

const ARTIFACT = `
  INSERT INTO catalog_artifact (workspace_id, id_folded, id, listed_serial, versions)
  VALUES ('default', 'a', 'a', 1, 1) RETURNING serial`;

/** Things that a test may leave in its database, in the way of the next one. */
const LEAVES: Record<string, string> = {
  'a row': 'UPDATE catalog_artifact SET versions = 2',
  'a table': 'CREATE TABLE odd (id bigint)',
  'a column': 'ALTER TABLE audit ADD COLUMN odd text',
  'a constraint': 'ALTER TABLE event ADD CONSTRAINT odd CHECK (progress IS NULL) NOT VALID',
  'a trigger that is off': 'ALTER TABLE claim DISABLE TRIGGER ALL',
};

const formOf = (database: PostgresDatabase) =>
  database.get(`
    SELECT (SELECT count(*) FROM pg_class WHERE relname = 'odd') AS tables,
      (SELECT count(*) FROM pg_attribute WHERE attname = 'odd') AS columns,
      (SELECT count(*) FROM pg_constraint WHERE conname = 'odd') AS constraints,
      (SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D') AS triggers`);

test.each([...Object.entries(LEAVES), ['nothing', 'SELECT 1']])(
  'a database is as new for the test that leaves %s',
  async (_what, sql) => {
    const database = await temporaryPostgres();
    expect(await formOf(database)).toEqual({ tables: 0, columns: 0, constraints: 0, triggers: 0 });
    expect(await database.all(ARTIFACT)).toEqual([{ serial: 1 }]);
    await database.exec(sql);
  },
);
