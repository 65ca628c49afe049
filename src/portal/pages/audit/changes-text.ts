import type { AuditEntryOut } from '#access/audit/audit-out.ts';
import { foreign } from '../../shell/parts.ts';
import type { Html } from '../../html.ts';

const CHARACTERS_MAX = 120;

/** What an entry of the audit says was changed, in one line; undefined when it says nothing. */
export function changesText(changes: AuditEntryOut['changes']): Html | undefined {
  if (!changes) return undefined;
  const parts = Object.entries(changes).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return foreign(parts.join(', '), CHARACTERS_MAX);
}
