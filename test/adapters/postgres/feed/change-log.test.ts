import { createChangeLog } from '#adapters/postgres/feed/change-log.ts';
import { describeChangeLog } from '../../../contract/change-log.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeChangeLog('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    mine: createChangeLog(database, { instanceId: 'mine' }),
    theirs: createChangeLog(database, { instanceId: 'theirs' }),
  };
});
