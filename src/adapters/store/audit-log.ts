import type { AuditFilter, AuditPosition, AuditReader } from '#access/audit.ts';
import { AUDIT_COLUMNS, type AuditRow, toAuditEntry } from '#shared/audit-log.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import type { Tx } from '#shared/database.ts';

/** The audit log. Rows are only ever added. */
export function createAuditLog(session: Tx): AuditReader {
  return {
    list: async ({ filter, limit, after }) => {
      const values = { ...filter, afterAt: after?.at, afterId: after?.id, limit: limit + 1 };
      const rows = await session.all<AuditRow & { id: number }>(listOf(filter, after), values);
      const { items, last } = cutPage(rows, limit);
      return {
        items: items.map(toAuditEntry),
        ...(last && { next: { at: last.at, id: last.id } }),
      };
    },
  };
}

/** Only conditions that are given, so that an index leads to them; without statistics SQLite guesses which. */
function listOf(filter: AuditFilter, after: AuditPosition | undefined): string {
  const conditions = [
    ...(filter.actor === undefined ? [] : ['actor_subject = @actor']),
    ...(filter.action === undefined ? [] : ['action = @action']),
    ...(filter.subject === undefined ? [] : ['subject = @subject']),
    ...(filter.requestId === undefined ? [] : ['request_id = @requestId']),
    ...(filter.since === undefined ? [] : ['at >= @since']),
    ...(filter.before === undefined ? [] : ['at < @before']),
    ...(after ? ['(at, id) < (@afterAt, @afterId)'] : []),
  ];
  return `
    SELECT id, ${AUDIT_COLUMNS} FROM audit /*sqlite INDEXED BY ${indexFor(filter)}*/
    ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
    ORDER BY at DESC, id DESC LIMIT @limit`;
}

/** The index that finds a page without looking at much else; a subject has few entries. */
function indexFor({ actor, action, subject, requestId }: AuditFilter): string {
  if (requestId !== undefined) return 'audit_by_request';
  if (subject !== undefined) return 'audit_by_subject';
  if (actor === undefined) return action === undefined ? 'audit_by_time' : 'audit_by_action';
  return action === undefined ? 'audit_by_actor' : 'audit_by_actor_and_action';
}
