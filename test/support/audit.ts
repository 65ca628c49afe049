import { listAuditOf } from '#shared/audit-log.ts';
import type { Tx } from '#shared/database.ts';
import type { AuditEntry } from '#shared/audit.ts';

/** Entries of the audit log about one subject, oldest first. */
export async function auditOf(session: Tx, subject: string): Promise<AuditEntry[]> {
  const found = await listAuditOf(session, subject, { limit: 1000 });
  return found.map(({ entry }) => entry).toReversed();
}
