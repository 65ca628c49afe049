import type { Actor, AuditAction, AuditEntry } from '#shared/audit.ts';
import { toRfc3339 } from '#shared/clock.ts';
import {
  type CursorSealer,
  type Pagination,
  refuseCursor,
  sealPage,
  startPage,
} from '#shared/page.ts';
import type { AuditFilter, AuditPosition, AuditReader } from './audit-reader.ts';

const LIST = { kind: 'audit/1', binding: '' }; // whoever may see it sees all of it

export type ListAuditDeps = { audit: AuditReader; cursors: CursorSealer };

/** A read of the list. A cursor carries the filter; `limit` (1 to 100) may change. */
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
  const { filters, position } = startPage(cursors, LIST, { cursor, filters: filter });
  const after = position === undefined ? undefined : toPosition(position);
  const { items, next } = await audit.list({ filter: filters, limit, ...(after && { after }) });
  const pagination: Pagination = next
    ? {
        hasMore: true,
        nextCursor: sealPage(cursors, LIST, { filters, position: [next.at, next.id] }),
      }
    : { hasMore: false };
  return { items: items.map(toAuditOut), pagination };
}

function toPosition(position: unknown): AuditPosition {
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
