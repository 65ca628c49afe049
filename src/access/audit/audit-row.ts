import type { Actor, AuditEntry } from '#shared/audit.ts';

/** An entry as the engines store it, without its id. */
export type AuditRow = Pick<AuditEntry, 'at' | 'action' | 'subject'> & {
  actorKind: Actor['kind'];
  actorSubject: string;
  actorClientId: string | null;
  changes: string | null;
  requestId: string | null;
};

/** For a store to insert. */
export function toAuditRow({ actor, changes, requestId, ...rest }: AuditEntry): AuditRow {
  return {
    ...rest,
    actorKind: actor.kind,
    actorSubject: actor.subject,
    actorClientId: actor.clientId ?? null,
    changes: changes === undefined ? null : JSON.stringify(changes),
    requestId: requestId ?? null,
  };
}

/** From what a store has read. */
export function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    at: row.at,
    actor: {
      kind: row.actorKind,
      subject: row.actorSubject,
      ...(row.actorClientId !== null && { clientId: row.actorClientId }),
    },
    action: row.action,
    subject: row.subject,
    ...(row.changes !== null && { changes: JSON.parse(row.changes) }),
    ...(row.requestId !== null && { requestId: row.requestId }),
  };
}
