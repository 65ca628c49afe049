import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { createVersion } from '#catalog/version/write-version.ts';
import { expect, test } from 'vitest';
import { searchPostgres, searchSqlite } from '#catalog/reading/search.ts';
import { readRelations } from '#catalog/version/version-view.ts';
import type { Draft } from '#catalog/version/content-check.ts';
import { describeCatalog, newDraft, owner } from '../contract/catalog.ts';
import { temporaryPostgres } from '../support/postgres/database.ts';
import { threadedDatabase } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

describeCatalog('SQLite, written by a thread', async () => ({
  db: threadedDatabase(),
  search: searchSqlite,
}));

describeCatalog('PostgreSQL', async () => ({
  db: await temporaryPostgres(),
  search: searchPostgres,
}));

/** Their bounds are in the statements that both engines share. */
const many = 1000;

test('an artifact holds a thousand versions and no more', async () => {
  const { catalog } = openWorld();
  const create = (version: string) => createVersion(catalog, owner, newDraft({ version }));
  await Promise.all(Array.from({ length: many }, (_, at) => create(`1.0.${at}`)));
  await expect(create('2.0.0')).rejects.toMatchObject({
    errors: [{ pointer: '#/id', code: 'too-many' }],
  });
});

test('a big group shows a thousand members and counts them all', async () => {
  const { catalog, database: db } = openWorld();
  const publish = async (facts: Partial<Draft>) => {
    const { record } = await createVersion(catalog, owner, newDraft(facts));
    return (await publishVersion(catalog, owner, { id: record.id })).record;
  };
  const group = await publish({ id: 'g', type: 'GROUP', groupPath: 'g' });
  await Promise.all(
    Array.from({ length: many + 1 }, (_, at) => publish({ id: `m${at}`, groupPath: 'g/x' })),
  );
  const { members, membersByType } = await readRelations(db, group);
  expect(members).toHaveLength(many);
  expect(membersByType).toEqual({ API: many + 1 });
});
