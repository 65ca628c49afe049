import { z } from 'zod';
import { actorOut, auditActions, type AuditEntry } from '#shared/audit.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { instantOut } from '#shared/instant-out.ts';

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

export function toAuditEntryOut(entry: AuditEntry): AuditEntryOut {
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
