import { z } from 'zod';
import {
  AUDIT_COLUMNS,
  type AuditAction,
  type AuditEntry,
  type AuditRow,
  actorOut,
  auditActions,
  toAuditEntry,
} from '#shared/audit.ts';
import { toRfc3339 } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';
import { instantOut } from '#shared/instant-out.ts';
import {
  type CursorSealer,
  type Listed,
  type Page,
  type PageRange,
  type PageRequest,
  readPage,
} from '#shared/pagination/page.ts';

/** Filter of the audit log; all that is given must hold. Texts compare exactly. */
export type AuditFilter = {
  actor?: string;
  action?: AuditAction;
  subject?: string;
  /** Of the call that did it. */
  requestId?: string;
  /** At or after; milliseconds since the Unix epoch. */
  since?: number;
  /** Before; milliseconds since the Unix epoch. */
  before?: number;
};

/** An entry of the audit log as the command line and the admin API show it. */
export const auditEntryOut = z
  .object({
    at: instantOut,
    actor: actorOut,
    action: z.enum(auditActions),
    subject: z.string(),
    changes: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Names and new values of what changed; never a secret.'),
    requestId: z.string().optional().describe('`X-Request-Id` of the call that did it.'),
  })
  .meta({ id: 'AuditEntry', description: 'Who did what to what, and when.' });

export type AuditEntryOut = z.infer<typeof auditEntryOut>;

function toAuditEntryOut(entry: AuditEntry): AuditEntryOut {
  const { at, actor, action, subject, changes, requestId } = entry;
  return {
    at: toRfc3339(at),
    actor,
    action,
    subject,
    ...(changes !== undefined && { changes: withReadableTimes(changes) }),
    requestId,
  };
}

/** Some changes are stored as they are computed with, their times in milliseconds. */
function withReadableTimes(changes: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => {
      const isTime = typeof value === 'number' && (name === 'since' || name.endsWith('At'));
      return [name, isTime ? toRfc3339(value) : value];
    }),
  );
}

/** Whoever may see it sees all of it. */
const LIST = { kind: 'audit/1', binding: '', position: z.tuple([z.number(), z.number()]) };

type AuditPosition = z.infer<typeof LIST.position>;

/**
 * One page of the audit log, newest first.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function listAudit(
  { db, cursors }: { db: Statements; cursors: CursorSealer },
  request: PageRequest & { filter: AuditFilter },
): Promise<Page<AuditEntryOut>> {
  const page = await readPage(cursors, LIST, request, (range) => readEntries(db, range));
  return { ...page, items: page.items.map(toAuditEntryOut) };
}

/** Entries newest first; of one instant, the one written last first. @throws {store-unavailable} */
export async function readEntries(
  db: Statements,
  { filter, limit, after }: PageRange<AuditPosition> & { filter: AuditFilter },
): Promise<Listed<AuditEntry, AuditPosition>[]> {
  const values = { ...filter, afterAt: after?.[0], afterId: after?.[1], limit };
  const rows = await db.all<AuditRow & { id: number }>(listOf(filter, after), values);
  return rows.map((row) => ({ item: toAuditEntry(row), position: [row.at, row.id] }));
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
