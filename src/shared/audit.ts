import { z } from 'zod';
import { send, type Statements, type Tx } from './database.ts';
import type { Listed, PageRange } from './pagination/page.ts';
import { toJson } from './sql.ts';

/** Author of a change: a command line user, a bearer token's subject, or Trackport itself. */
export const actorOut = z
  .object({
    kind: z.enum(['cli', 'token', 'system']),
    subject: z.string().describe('Of a token its `sub`; the user of the command line.'),
    clientId: z.string().optional().describe('The token’s client.'),
  })
  .meta({ id: 'Actor', description: 'Who did something.' });

export type Actor = z.infer<typeof actorOut>;

/** Author and request of a change, for the audit log. */
export type Origin = { actor: Actor; requestId?: string };

const artifactActions = [
  'create',
  'replace',
  'edit',
  'delete',
  'publish',
  'deprecate',
  'reinstate',
  'retire',
  'set-default',
  'unset-default',
] as const;

/** Everything that the audit log tells of, as `noun.verb`. */
export const auditActions = [
  'consumer.create',
  'consumer.update',
  'consumer.grant',
  'consumer.revoke',
  'key.create',
  'key.rotate',
  'key.revoke',
  'claim.release',
  'claim.withdraw',
  'receipt.replay',
  'receipt.acknowledge',
  'receipt.import',
  ...artifactActions.map((action) => `artifact.${action}` as const),
] as const;

export type ArtifactAction = (typeof artifactActions)[number];
export type AuditAction = (typeof auditActions)[number];

/** One line of the audit log. Never a secret, never personal data of a lead. */
export type AuditEntry = {
  /** Milliseconds since the Unix epoch. */
  at: number;
  actor: Actor;
  action: AuditAction;
  /**
   * The thing changed: `consumer/<id>`, `claim/<number>`, `receipt/<id>`, `receipts` (many at
   * once), `artifact/<workspace>/<id in lower case>`.
   */
  subject: string;
  /** Names and new values of what changed. */
  changes?: Record<string, unknown>;
  requestId?: string;
};

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

/** Goes with what comes behind it, in the transaction of the change that the entry is about. */
export function appendAudit(tx: Tx, entry: AuditEntry): void {
  send(tx, INSERT, toAuditRow(entry));
}

/** Entries about one subject with their positions, newest first. @throws {store-unavailable} */
export async function listAuditOf(
  db: Statements,
  subject: string,
  { after = Number.MAX_SAFE_INTEGER, limit }: PageRange,
): Promise<Listed<AuditEntry>[]> {
  const values = { subject, after, limit };
  const rows = await db.all<AuditRow & { id: number }>(OF_SUBJECT_BEFORE, values);
  return rows.map((row) => ({ item: toAuditEntry(row), position: row.id }));
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
