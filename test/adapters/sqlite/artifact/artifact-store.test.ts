import { createArtifactStore } from '#adapters/sqlite/artifact/artifact-store.ts';
import { describeArtifactStore } from '../../../contract/artifact-store.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

describeArtifactStore('SQLite', async () => ({ store: createArtifactStore(temporaryDatabase()) }));
