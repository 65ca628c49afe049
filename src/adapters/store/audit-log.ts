import type { AuditFilter, AuditPosition, AuditReader } from '#access/audit.ts';
import type { Actor, AuditEntry } from '#shared/audit.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import type { Tx } from '#shared/database.ts';
import { toJson } from '#shared/sql.ts';

/** An entry as the engines store it, without its id. */
type AuditRow = Pick<AuditEntry, 'at' | 'action' | 'subject'> & {
  actorKind: Actor['kind'];
  actorSubject: string;
  actorClientId: string | undefined;
  changes: string | undefined;
  requestId: string | undefined;
};

/** The columns of `AuditRow`. */
const COLUMNS =
  'at, actor_kind, actor_subject, actor_client_id, action, subject, changes, request_id';

const INSERT = `
  INSERT INTO audit (${COLUMNS})
  VALUES (@at, @actorKind, @actorSubject, @actorClientId, @action, @subject, @changes, @requestId)`;

const OF_SUBJECT_BEFORE = `
  SELECT id, ${COLUMNS} FROM audit WHERE subject = @subject AND id < @after
  ORDER BY id DESC LIMIT @limit`;

/** Call it inside the transaction of the change that the entry is about. */
export async function appendAudit(session: Tx, entry: AuditEntry): Promise<void> {
  await session.run(INSERT, toAuditRow(entry));
}

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

/** Entries about one subject with their positions, newest first. @throws {store-unavailable} */
export async function listAuditOf(
  session: Tx,
  subject: string,
  { after = Number.MAX_SAFE_INTEGER, limit }: { after?: number | undefined; limit: number },
): Promise<{ entry: AuditEntry; position: number }[]> {
  const values = { subject, after, limit };
  const rows = await session.all<AuditRow & { id: number }>(OF_SUBJECT_BEFORE, values);
  return rows.map((row) => ({ entry: toAuditEntry(row), position: row.id }));
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
    SELECT id, ${COLUMNS} FROM audit /*sqlite INDEXED BY ${indexFor(filter)}*/
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

function toAuditRow({ actor, changes, requestId, ...rest }: AuditEntry): AuditRow {
  return {
    ...rest,
    actorKind: actor.kind,
    actorSubject: actor.subject,
    actorClientId: actor.clientId,
    changes: toJson(changes),
    requestId,
  };
}

function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    at: row.at,
    actor: { kind: row.actorKind, subject: row.actorSubject, clientId: row.actorClientId },
    action: row.action,
    subject: row.subject,
    changes: row.changes === undefined ? undefined : JSON.parse(row.changes),
    requestId: row.requestId,
  };
}
