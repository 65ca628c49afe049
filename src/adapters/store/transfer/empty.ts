import type { Session } from '../session.ts';
import { unavailable } from '../unavailable.ts';
import { countRows } from './rows.ts';
import { listColumns } from './tables.ts';

/** A start fills it again: whoever started a new store once has lost nothing with it. */
const REFILLED = [
  'directory_approval',
  'directory_key',
  'directory_lead',
  'directory_state',
  'lead_change',
  'secret_key',
  'tracker_repository',
];

/** Of one row, which the migrations write. */
const COUNTERS = ['access_version', 'claim_version'];

/** Those of an empty store that may have rows. */
export const replacedTables: ReadonlySet<string> = new Set([...REFILLED, ...COUNTERS]);

/**
 * Refuses a store with rows in any other table than a first start writes.
 * @throws {store-unavailable} with what to do: `advice`
 */
export async function refuseUnlessEmpty(session: Session, advice: string): Promise<void> {
  const full: string[] = [];
  for (const name of new Set((await listColumns(session)).map(({ table }) => table)))
    if (!replacedTables.has(name) && (await countRows(session, name)) > 0) full.push(name);
  if (full.length > 0) throw unavailable(`The store is not empty (${full.join(', ')}). ${advice}`);
}
