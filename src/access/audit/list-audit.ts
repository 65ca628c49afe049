import {
  type CursorSealer,
  type Pagination,
  paginationOf,
  refuseCursor,
  sealPage,
  startPage,
} from '#shared/pagination/page.ts';
import { type AuditEntryOut, toAuditEntryOut } from './audit-out.ts';
import type { AuditFilter, AuditPosition, AuditReader } from './audit-reader.ts';

const LIST = { kind: 'audit/1', binding: '' }; // whoever may see it sees all of it

export type ListAuditDeps = { audit: AuditReader; cursors: CursorSealer };

/** A read of the list. A cursor carries the filter; `limit` (1 to 100) may change. */
export type AuditListQuery = { filter: AuditFilter; limit: number; cursor?: string };

/**
 * One page of the audit log, newest first.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function listAudit(
  { audit, cursors }: ListAuditDeps,
  { filter, limit, cursor }: AuditListQuery,
): Promise<{ items: AuditEntryOut[]; pagination: Pagination }> {
  const { filters, position } = startPage(cursors, LIST, { cursor, filters: filter });
  const after = position === undefined ? undefined : toPosition(position);
  const { items, next } = await audit.list({ filter: filters, limit, after });
  const nextCursor = next && sealPage(cursors, LIST, { filters, position: [next.at, next.id] });
  return { items: items.map(toAuditEntryOut), pagination: paginationOf(nextCursor) };
}

function toPosition(position: unknown): AuditPosition {
  const [at, id] = Array.isArray(position) ? (position as unknown[]) : [];
  return typeof at === 'number' && typeof id === 'number' ? { at, id } : refuseCursor();
}
