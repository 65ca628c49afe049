import type { AuditFilter, AuditPosition, AuditReader } from '#access/audit/audit-reader.ts';
import { toAuditEntry, toAuditRow } from '#access/audit/audit-row.ts';
import type { AuditRow } from '#access/audit/audit-row.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import type { Database, Session } from './connection/database.ts';

/** The audit log. Rows are only ever added. */
export type AuditLog = AuditReader & {
  /** Entries about one subject, oldest first. @throws {store-unavailable} */
  listOf(subject: string): Promise<AuditEntry[]>;
};

/** The columns of `AuditRow`. */
export const AUDIT_COLUMNS =
  'at, actor_kind, actor_subject, actor_client_id, action, subject, changes, request_id';

const INSERT = `
  INSERT INTO audit (${AUDIT_COLUMNS})
  VALUES (@at, @actorKind, @actorSubject, @actorClientId, @action, @subject, @changes, @requestId)`;

/** Call it inside the transaction of the change that the entry is about. */
export async function appendAudit(session: Session, entry: AuditEntry): Promise<void> {
  await session.run(INSERT, toAuditRow(entry));
}

export function createAuditLog(database: Database): AuditLog {
  return {
    list: async ({ filter, limit, after }) => {
      const { sql, values } = listStatement(filter, after);
      const rows = await database.all<AuditRow & { id: number }>(sql, {
        ...values,
        limit: limit + 1,
      });
      const { items, last } = cutPage(rows, limit);
      return {
        items: items.map(toAuditEntry),
        ...(last && { next: { at: last.at, id: last.id } }),
      };
    },
    listOf: async (subject) => {
      const sql = `SELECT ${AUDIT_COLUMNS} FROM audit WHERE subject = @subject ORDER BY id`;
      return (await database.all<AuditRow>(sql, { subject })).map(toAuditEntry);
    },
  };
}

/** Only conditions that are given, so that an index leads to them. */
function listStatement(filter: AuditFilter, after: AuditPosition | undefined) {
  const conditions = [
    ...(filter.actor === undefined ? [] : ['actor_subject = @actor']),
    ...(filter.action === undefined ? [] : ['action = @action']),
    ...(filter.subject === undefined ? [] : ['subject = @subject']),
    ...(filter.since === undefined ? [] : ['at >= @since']),
    ...(filter.before === undefined ? [] : ['at < @before']),
    ...(after ? ['(at, id) < (@afterAt, @afterId)'] : []),
  ];
  return {
    sql: `SELECT id, ${AUDIT_COLUMNS} FROM audit
      ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
      ORDER BY at DESC, id DESC LIMIT @limit`,
    values: { ...filter, afterAt: after?.at, afterId: after?.id },
  };
}
