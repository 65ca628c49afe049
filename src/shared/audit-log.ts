/** The audit log in the store. Rows are only ever added. */
import type { Actor, AuditEntry } from './audit.ts';
import type { Tx } from './database.ts';
import { toJson } from './sql.ts';

/** An entry as the engines store it, without its id. */
export type AuditRow = Pick<AuditEntry, 'at' | 'action' | 'subject'> & {
  actorKind: Actor['kind'];
  actorSubject: string;
  actorClientId: string | undefined;
  changes: string | undefined;
  requestId: string | undefined;
};

/** The columns of `AuditRow`. */
export const AUDIT_COLUMNS =
  'at, actor_kind, actor_subject, actor_client_id, action, subject, changes, request_id';

const INSERT = `
  INSERT INTO audit (${AUDIT_COLUMNS})
  VALUES (@at, @actorKind, @actorSubject, @actorClientId, @action, @subject, @changes, @requestId)`;

const OF_SUBJECT_BEFORE = `
  SELECT id, ${AUDIT_COLUMNS} FROM audit WHERE subject = @subject AND id < @after
  ORDER BY id DESC LIMIT @limit`;

/** Call it inside the transaction of the change that the entry is about. */
export async function appendAudit(session: Tx, entry: AuditEntry): Promise<void> {
  await session.run(INSERT, toAuditRow(entry));
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

export function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    at: row.at,
    actor: { kind: row.actorKind, subject: row.actorSubject, clientId: row.actorClientId },
    action: row.action,
    subject: row.subject,
    changes: row.changes === undefined ? undefined : JSON.parse(row.changes),
    requestId: row.requestId,
  };
}
