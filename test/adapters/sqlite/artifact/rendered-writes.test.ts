import { expect, test } from 'vitest';
import { createArtifactStore } from '#adapters/sqlite/artifact/artifact-store.ts';
import { createIdempotencyStore } from '#adapters/store/idempotency-store.ts';
import type { ChangeAudit, NewVersion, StoredVersion } from '#catalog/artifact-store.ts';
import type { StoredRun } from '#shared/idempotency.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

const W = 'default';
const audit: ChangeAudit = {
  at: 1,
  actor: { kind: 'token', subject: 'owner' },
  action: 'artifact.create',
};
const run = {
  workspaceId: W,
  digest: Buffer.alloc(32, 1),
  fingerprint: Buffer.alloc(32, 2),
  now: 1,
};

const newVersion = (id: string, version: string): NewVersion => ({
  id,
  version,
  type: 'OPENAPI',
  source: 'MANUAL',
  owner: 'team',
  title: id,
  findings: [],
  createdAt: 1,
  updatedAt: 1,
});

function setUp() {
  const database = temporaryDatabase();
  const store = createArtifactStore(database);
  const keys = createIdempotencyStore(database);
  const elsewhere = connectTo(database.handle.name);
  /** A version that another process makes; it is numbered before ours. */
  const insertElsewhere = (version: string): void =>
    elsewhere.transaction(() => {
      elsewhere.handle
        .prepare(
          `INSERT INTO catalog_version (artifactSerial, workspaceId, version, orderKey, isFace,
             revision, lifecycle, type, source, owner, title, createdAt, updatedAt)
           SELECT serial, workspaceId, ?, '9', 0, 1, 'DRAFT', 'OPENAPI', 'MANUAL', 'x', 'x', 1, 1
           FROM catalog_artifact`,
        )
        .run(version);
      elsewhere.handle.exec('UPDATE catalog_artifact SET versions = versions + 1');
    });
  return { database, store, keys, insertElsewhere };
}

const render = ({ record, relations }: StoredVersion): StoredRun => ({
  ...run,
  response: { status: 201, headers: {}, body: `${record.serial} of ${relations.versions}` },
});

test('the response that is stored shows what was made', async () => {
  const { store, keys, database } = setUp();
  const inserted = await store.insert(W, newVersion('a', '1.0.0'), { audit, toStoredRun: render });
  expect(inserted).toMatchObject({ kind: 'inserted', stored: { record: { serial: 1 } } });
  expect(await keys.find(run)).toMatchObject({ response: { body: '1 of 1' } });
  expect(database.handle.prepare('SELECT count(*) FROM audit').pluck().get()).toBe(1);
});

test('it is rendered anew when another process comes between', async () => {
  const { store, keys, insertElsewhere } = setUp();
  await store.insert(W, newVersion('a', '1.0.0'), { audit });
  let renderings = 0;
  const toStoredRun = (stored: StoredVersion): StoredRun => {
    renderings += 1;
    if (renderings === 1) insertElsewhere('1.5.0');
    return render(stored);
  };
  const inserted = await store.insert(W, newVersion('a', '2.0.0'), { audit, toStoredRun });
  expect(inserted).toMatchObject({ stored: { record: { serial: 3 }, relations: { versions: 3 } } });
  expect(await keys.find(run)).toMatchObject({ response: { body: '3 of 3' } });
  expect(renderings).toBe(2);
});

test('when others never stop, the change is refused and nothing of it is kept', async () => {
  const { store, keys, insertElsewhere } = setUp();
  await store.insert(W, newVersion('a', '1.0.0'), { audit });
  let others = 0;
  const toStoredRun = (stored: StoredVersion): StoredRun => {
    others += 1;
    insertElsewhere(`1.${others}.0`);
    return render(stored);
  };
  const refused = store.insert(W, newVersion('a', '2.0.0'), { audit, toStoredRun });
  await expect(refused).rejects.toMatchObject({ code: 'store-unavailable' });
  expect(await keys.find(run)).toEqual({ kind: 'nothing' });
  expect(await store.candidates(W, 'a')).toHaveLength(1 + others);
});

test('calls of one process never come between each other, with a key or without', async () => {
  const { store, keys } = setUp();
  let renderings = 0;
  const toStoredRun = (stored: StoredVersion): StoredRun => {
    renderings += 1;
    return render(stored);
  };
  const names = Array.from({ length: 20 }, (_, index) => `${index + 1}.0.0`);
  await Promise.all(
    names.map((name) =>
      store.insert(W, newVersion('a', name), {
        audit,
        ...(name === '10.0.0' && { toStoredRun }),
      }),
    ),
  );
  expect(renderings).toBe(1);
  expect(await keys.find(run)).toMatchObject({ kind: 'stored' });
  expect(await store.candidates(W, 'a')).toHaveLength(20);
});
