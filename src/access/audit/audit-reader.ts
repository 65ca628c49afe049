import type { AuditAction, AuditEntry } from '#shared/audit.ts';

/** Which entries of the audit log; all that is given must hold. Texts compare exactly. */
export type AuditFilter = {
  /** Subject of the actor. */
  actor?: string;
  action?: AuditAction;
  subject?: string;
  /** At or after; milliseconds since the Unix epoch. */
  since?: number;
  /** Before; milliseconds since the Unix epoch. */
  before?: number;
};

/** Position in the list: the last entry of the page before. */
export type AuditPosition = { at: number; id: number };

/** Port: reads the audit log. */
export type AuditReader = {
  /**
   * Newest first; of one instant, the one written last first. `next` is there when there are more.
   * @throws {store-unavailable}
   */
  list(query: { filter: AuditFilter; limit: number; after?: AuditPosition }): Promise<{
    items: AuditEntry[];
    next?: AuditPosition;
  }>;
};
