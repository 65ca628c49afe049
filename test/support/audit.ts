import { type AuditEntry, listAuditOf } from '#shared/audit.ts';
import type { Statements } from '#shared/database.ts';

/** Entries of the audit log about one subject, oldest first. */
export async function auditOf(session: Statements, subject: string): Promise<AuditEntry[]> {
  const found = await listAuditOf(session, subject, { limit: 1000 });
  return found.map(({ item }) => item).toReversed();
}
