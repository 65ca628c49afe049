import { TrackportError } from '#shared/errors.ts';
import type { Table } from '#shared/store/transfer/table.ts';
import type { Session } from '../connection/database.ts';
import { countRows } from './rows.ts';

/** A start fills it again: whoever started a new store once has lost nothing with it. */
const REFILLED = [
  'directory_approval',
  'directory_key',
  'directory_lead',
  'directory_state',
  'secret_key',
  'tracker_repository',
];

/** Of one row, which the migrations write. */
const COUNTERS = ['access_version', 'claim_version'];

/**
 * Refuses a store that holds anything but what a first start writes, and removes that.
 * @throws {store-unavailable}
 */
export async function makeEmpty(session: Session, tables: readonly Table[]): Promise<void> {
  const replaced = new Set([...REFILLED, ...COUNTERS]);
  const full: string[] = [];
  for (const { name } of tables)
    if (!replaced.has(name) && (await countRows(session, name)) > 0) full.push(name);
  if (full.length > 0)
    throw new TrackportError('store-unavailable', {
      detail: `The store is not empty (${full.join(', ')}). Name another database, or drop this one and create it again.`,
    });
  for (const name of replaced) await session.run(`DELETE FROM "${name}"`);
}
