import { expect, test } from 'vitest';
import { searchPostgres } from '#adapters/store/artifact/search.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { createArtifactStore } from '#adapters/store/artifact/artifact-store.ts';
import { createIdempotencyStore } from '#adapters/store/idempotency-store.ts';
import type { NewVersion } from '#catalog/artifact-store.ts';
import { audit, describeArtifactStore, newVersion } from '../../../contract/artifact-store.ts';
import { createSqliteArtifacts } from '../../../support/catalog.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';
import { temporaryDatabase, threadedDatabase } from '../../../support/stores.ts';

const onFile = (database: SqliteDatabase) => ({
  store: createSqliteArtifacts(database),
  keys: createIdempotencyStore(database),
});

describeArtifactStore('SQLite, written by a thread', async () => onFile(await threadedDatabase()));

describeArtifactStore('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    store: createArtifactStore({ database, search: searchPostgres }),
    keys: createIdempotencyStore(database),
  };
});

/** What bounds them is in the statements that both engines share. */
const many = 1000;

test('an artifact holds a thousand versions and no more', async () => {
  const { store } = onFile(temporaryDatabase());
  const insert = (version: string) => store.insert('default', newVersion({ version }), { audit });
  await Promise.all(Array.from({ length: many }, (_, at) => insert(`1.0.${at}`)));
  expect(await insert('2.0.0')).toEqual({ kind: 'full' });
});

test('a big group shows a thousand members and counts them all', async () => {
  const { store } = onFile(temporaryDatabase());
  const publish = async (facts: Partial<NewVersion>) => {
    const inserted = await store.insert('default', newVersion(facts), { audit });
    if (inserted.kind !== 'inserted') throw new Error(inserted.kind);
    const former = inserted.stored.record;
    const next = { ...former, lifecycle: 'PUBLISHED' as const, revision: 2 };
    await store.change('default', { former, next }, { audit });
    return next;
  };
  const group = await publish({ id: 'g', type: 'GROUP', groupPath: 'g' });
  await Promise.all(
    Array.from({ length: many + 1 }, (_, at) => publish({ id: `m${at}`, groupPath: 'g/x' })),
  );
  const { members, membersByType } = await store.relations('default', group);
  expect(members).toHaveLength(many);
  expect(membersByType).toEqual({ API: many + 1 });
});
