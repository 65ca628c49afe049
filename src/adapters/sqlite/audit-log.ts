import type { AuditFilter, AuditPosition, AuditReader } from '#access/audit/audit-reader.ts';
import { toAuditEntry, toAuditRow } from '#access/audit/audit-row.ts';
import type { AuditRow } from '#access/audit/audit-row.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import type { Connection } from './connection/connection.ts';
import { guard } from './connection/errors.ts';

/** The audit log. Rows are only ever added. */
export type AuditLog = AuditReader & {
  /** Call it inside the transaction of the change that it is about. @throws {store-unavailable} */
  append(entry: AuditEntry): void;
  /** Entries about one subject, oldest first. @throws {store-unavailable} */
  listOf(subject: string): AuditEntry[];
};

const INSERT = `
  INSERT INTO audit (at, actorKind, actorSubject, actorClientId, action, subject, changes, requestId)
  VALUES (@at, @actorKind, @actorSubject, @actorClientId, @action, @subject, @changes, @requestId)`;

const COLUMNS = 'at, actorKind, actorSubject, actorClientId, action, subject, changes, requestId';
const LIST_OF_SUBJECT = `SELECT ${COLUMNS} FROM audit WHERE subject = ? ORDER BY id`;

export function createAuditLog({ handle }: Connection): AuditLog {
  const insert = handle.prepare<[AuditRow]>(INSERT);
  const listOfSubject = handle.prepare<[string], AuditRow>(LIST_OF_SUBJECT);
  return {
    append: (entry) => {
      guard(() => insert.run(toAuditRow(entry)));
    },
    list: async ({ filter, limit, after }) =>
      guard(() => {
        const { sql, values } = listStatement(filter, after);
        const rows = handle
          .prepare<Value[], AuditRow & { id: number }>(sql)
          .all(...values, limit + 1);
        const { items, last } = cutPage(rows, limit);
        return {
          items: items.map(toAuditEntry),
          ...(last && { next: { at: last.at, id: last.id } }),
        };
      }),
    listOf: (subject) => guard(() => listOfSubject.all(subject).map(toAuditEntry)),
  };
}

type Value = string | number;

/** Only conditions that are given, on the index that is named: without statistics SQLite guesses. */
function listStatement(filter: AuditFilter, after: AuditPosition | undefined) {
  const { actor, action, subject, since, before } = filter;
  const conditions: [string, Value | undefined][] = [
    ['actorSubject = ?', actor],
    ['action = ?', action],
    ['subject = ?', subject],
    ['at >= ?', since],
    ['at < ?', before],
  ];
  const given = conditions.filter((one): one is [string, Value] => one[1] !== undefined);
  const where = [...given.map(([condition]) => condition), ...(after ? ['(at, id) < (?, ?)'] : [])];
  const values = [...given.map(([, value]) => value), ...(after ? [after.at, after.id] : [])];
  return {
    sql: `SELECT id, ${COLUMNS} FROM audit INDEXED BY ${indexFor(filter)}
      ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}
      ORDER BY at DESC, id DESC LIMIT ?`,
    values,
  };
}

/** The index that finds a page without looking at much else; a subject has few entries. */
function indexFor({ actor, action, subject }: AuditFilter): string {
  if (subject !== undefined) return 'audit_by_subject';
  if (actor === undefined) return action === undefined ? 'audit_by_time' : 'audit_by_action';
  return action === undefined ? 'audit_by_actor' : 'audit_by_actor_and_action';
}
