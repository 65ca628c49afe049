import { createArtifactStore } from '#adapters/sqlite/artifact/artifact-store.ts';
import { describeArtifactStore } from '../../../contract/artifact-store.ts';
import { temporaryDatabase, threadedDatabase } from '../../../support/stores.ts';

describeArtifactStore('SQLite', async () => ({ store: createArtifactStore(temporaryDatabase()) }));

describeArtifactStore('SQLite, written by a thread', async () => ({
  store: createArtifactStore(await threadedDatabase()),
}));
