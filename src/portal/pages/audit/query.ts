import { z } from 'zod';
import type { AuditFilter } from '#access/audit/audit-reader.ts';
import { auditActions } from '#shared/audit.ts';
import { cursorParameter, dayFilter, oneOfFilter, textFilter } from '../../address.ts';
import { spanOf } from '../../shell/times.ts';

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

export function toFilter({ who, what, on, ...days }: AuditQuery, timeZone: string): AuditFilter {
  return {
    ...(who !== undefined && { actor: who }),
    ...(what !== undefined && { action: what }),
    ...(on !== undefined && { subject: on }),
    ...spanOf(days, timeZone),
  };
}
