import { z } from 'zod';
import type { AuditFilter } from '#access/audit/audit-reader.ts';
import { auditActions } from '#shared/audit.ts';
import { DAY } from '#shared/clock.ts';
import { cursorParameter, dayFilter, oneOfFilter, textFilter } from '../../address.ts';

/** The address of the page: what a form leaves empty is no filter. */
export const auditQuery = z.strictObject({
  who: textFilter(),
  what: oneOfFilter(auditActions),
  on: textFilter(),
  from: dayFilter,
  to: dayFilter,
  cursor: cursorParameter,
});

export type AuditQuery = z.output<typeof auditQuery>;

/** Days are UTC; `to` is inclusive. */
export function toFilter({ who, what, on, from, to }: AuditQuery): AuditFilter {
  return {
    ...(who !== undefined && { actor: who }),
    ...(what !== undefined && { action: what }),
    ...(on !== undefined && { subject: on }),
    ...(from !== undefined && { since: Date.parse(from) }),
    ...(to !== undefined && { before: Date.parse(to) + DAY }),
  };
}
