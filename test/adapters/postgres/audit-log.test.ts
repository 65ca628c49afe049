import { appendAudit, createAuditLog } from '#adapters/postgres/audit-log.ts';
import { describeAuditLog } from '../../contract/audit-log.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';

describeAuditLog('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  const log = createAuditLog(database);
  return {
    log,
    append: (entry) => appendAudit(database, entry),
    listOf: (subject) => log.listOf(subject),
  };
});
