import type { AuditEntryOut } from '#access/audit/audit-out.ts';

/** The first line. */
export const CSV_HEADER = 'at,actor,actorKind,clientId,action,subject,changes,requestId\r\n';

/**
 * Lines of entries as RFC 4180 has it. Text that a spreadsheet would take for a formula gets an
 * apostrophe before it.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function toCsv(entries: readonly AuditEntryOut[]): string {
  const rows = entries.map(({ at, actor, action, subject, changes, requestId }) => [
    at,
    actor.subject,
    actor.kind,
    actor.clientId ?? '',
    action,
    subject,
    changes === undefined ? '' : JSON.stringify(changes),
    requestId ?? '',
  ]);
  return rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');
}

function toCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
