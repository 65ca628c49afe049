import type { Actor, AuditAction, AuditEntry } from '#shared/audit.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { type CursorSealer, type Pagination, refuseCursor } from '#shared/page.ts';
import type { AuditFilter, AuditPosition, AuditReader } from './audit-reader.ts';

const CURSOR_KIND = 'audit/1';

export type ListAuditDeps = { audit: AuditReader; cursors: CursorSealer };

/** A read of the list. A cursor is bound to the filter; `limit` (1 to 100) may change. */
export type AuditListQuery = { filter: AuditFilter; limit: number; cursor?: string };

/** An entry as the command line and the admin API show it. */
export type AuditOut = {
  at: string;
  actor: Actor;
  action: AuditAction;
  subject: string;
  changes?: Record<string, unknown>;
  requestId?: string;
};

/**
 * One page of the audit log, newest first.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function listAudit(
  { audit, cursors }: ListAuditDeps,
  { filter, limit, cursor }: AuditListQuery,
): Promise<{ items: AuditOut[]; pagination: Pagination }> {
  const binding = bindingOf(filter);
  const after = cursor === undefined ? undefined : openCursor(cursors, binding, cursor);
  const { items, next } = await audit.list({ filter, limit, ...(after && { after }) });
  const pagination: Pagination = next
    ? { hasMore: true, nextCursor: cursors.seal(CURSOR_KIND, binding, [next.at, next.id]) }
    : { hasMore: false };
  return { items: items.map(toAuditOut), pagination };
}

function bindingOf({ actor, action, subject, since }: AuditFilter): string {
  return JSON.stringify([actor, action, subject, since].map((value) => value ?? null));
}

function openCursor(cursors: CursorSealer, binding: string, cursor: string): AuditPosition {
  const position = cursors.open(CURSOR_KIND, binding, cursor);
  const [at, id] = Array.isArray(position) ? (position as unknown[]) : [];
  return typeof at === 'number' && typeof id === 'number' ? { at, id } : refuseCursor();
}

function toAuditOut({ at, actor, action, subject, changes, requestId }: AuditEntry): AuditOut {
  return {
    at: toRfc3339(at),
    actor,
    action,
    subject,
    ...(changes === undefined ? {} : { changes: withReadableTimes(changes) }),
    ...(requestId === undefined ? {} : { requestId }),
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
