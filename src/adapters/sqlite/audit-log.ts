import type { Actor, AuditEntry } from '#shared/audit.ts';
import type { Database } from './database.ts';
import { guard } from './errors.ts';

/** The audit log. Rows are only ever added. */
export type AuditLog = {
  /** Call it inside the transaction of the change that it tells of. @throws {store-unavailable} */
  append(entry: AuditEntry): void;
  /** Entries about one subject, oldest first. @throws {store-unavailable} */
  listOf(subject: string): AuditEntry[];
};

/** A row of `audit`, without its id. */
export type AuditRow = {
  at: number;
  actorKind: Actor['kind'];
  actorSubject: string;
  actorClientId: string | null;
  action: string;
  subject: string;
  changes: string | null;
  requestId: string | null;
};

const INSERT = `
  INSERT INTO audit (at, actorKind, actorSubject, actorClientId, action, subject, changes, requestId)
  VALUES (@at, @actorKind, @actorSubject, @actorClientId, @action, @subject, @changes, @requestId)`;

const LIST_OF_SUBJECT = `
  SELECT at, actorKind, actorSubject, actorClientId, action, subject, changes, requestId
  FROM audit WHERE subject = ? ORDER BY id`;

export function createAuditLog({ handle }: Database): AuditLog {
  const insert = handle.prepare<[AuditRow]>(INSERT);
  const listOfSubject = handle.prepare<[string], AuditRow>(LIST_OF_SUBJECT);
  return {
    append: (entry) => {
      guard(() => insert.run(toRow(entry)));
    },
    listOf: (subject) => guard(() => listOfSubject.all(subject).map(toEntry)),
  };
}

function toRow({ actor, changes, requestId, ...rest }: AuditEntry): AuditRow {
  return {
    ...rest,
    actorKind: actor.kind,
    actorSubject: actor.subject,
    actorClientId: actor.clientId ?? null,
    changes: changes === undefined ? null : JSON.stringify(changes),
    requestId: requestId ?? null,
  };
}

export function toEntry(row: AuditRow): AuditEntry {
  return {
    at: row.at,
    actor: {
      kind: row.actorKind,
      subject: row.actorSubject,
      ...(row.actorClientId === null ? {} : { clientId: row.actorClientId }),
    },
    action: row.action,
    subject: row.subject,
    ...(row.changes === null ? {} : { changes: JSON.parse(row.changes) }),
    ...(row.requestId === null ? {} : { requestId: row.requestId }),
  };
}
