import { createArtifactStore } from '#adapters/postgres/artifact/artifact-store.ts';
import { describeArtifactStore } from '../../../contract/artifact-store.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeArtifactStore('PostgreSQL', async () => ({
  store: createArtifactStore(await temporaryPostgres()),
}));
